"""The prompts that a client offers to its user: one, which puts a paste before the assistant."""

from __future__ import annotations

import mcp_types as types
from mcp import MCPError

NAME = "diagnose"
_TEXT = (
    "Find out why this NCCL job hangs, fails or is slow: give the text below to the tool 'triage', unshortened and in "
    "one call, and pass on its root cause, the lines that show it, and its fix."
)
_ABOUT = "Diagnose a job from its logs and tool output."


async def listed(_context: object, _params: object) -> types.ListPromptsResult:
    """The list of the prompts."""
    paste = types.PromptArgument(name="paste", description="Logs and tool output of the job.", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name=NAME, description=_ABOUT, arguments=[paste])])


async def one(_context: object, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """The prompt with the paste. Raises MCPError for an unknown name, and without a paste."""
    paste = (params.arguments or {}).get("paste", "")
    if params.name != NAME or not paste:
        why = f"there is no prompt {params.name!r}; there is {NAME!r}" if params.name != NAME else "give it a 'paste'"
        raise MCPError(code=types.INVALID_PARAMS, message=why)
    content = types.TextContent(type="text", text=f"{_TEXT}\n\n{paste}")
    return types.GetPromptResult(description=_ABOUT, messages=[types.PromptMessage(role="user", content=content)])
