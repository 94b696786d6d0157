"""Secrets as tools, clouds and people hand them over, made anew for each test: ``§`` is where one stands.

No token here was ever issued: letters are drawn with a seed behind the prefixes that vendors publish.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

_HEX, _WORD = "0123456789abcdef", string.ascii_letters + string.digits
TYPED = ("Zq8!kestrel", "tr4ktorGelb", "mX9-wolke.77")
"""What people type."""
MADE = ("hex40", "word32", "word24")
"""What programs make: letters of an alphabet, so many of them."""
# ruff: noqa: E501  (the lines are the data)
ENV = """\
WANDB_API_KEY=§
export HF_TOKEN=§
MYSQL_PWD=§
AWS_SECRET_ACCESS_KEY=§
declare -x OPENAI_API_KEY="§"
SMTP_PASS='§'
BACKUP_PW=§
SERVICE_CREDS=§
DEPLOY_PAT=§
SLURM_JWT=§
setenv NGC_API_KEY §
set REGISTRY_PASSWORD=§
$env:AZURE_CLIENT_SECRET = "§"
COMET_API_KEY=§ NCCL_DEBUG=INFO
REDIS_URL=redis://:§@cache:6379/0
DATABASE_URL=postgresql://trainer:§@db.lab.example:5432/runs
AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=ckpt;AccountKey=§;EndpointSuffix=core.windows.net
http_proxy=http://kim:§@proxy.lab.example:3128
NEPTUNE_API_TOKEN=§
MLFLOW_TRACKING_PASSWORD=§
RABBITMQ_DEFAULT_PASS=§
apiToken=§
spring.datasource.password=§
SSH_KEY_PASSPHRASE=§
PGPASSWORD=§
"""
LOG = """\
DEBUG send: b'Authorization: Bearer §'
> X-Api-Key: §
> PRIVATE-TOKEN: §
< Set-Cookie: session=§; Path=/; HttpOnly
Cookie: sid=§; theme=dark
GET /v2/models?access_token=§&limit=5 HTTP/1.1
PUT https://ckpt.blob.core.windows.net/c/shard?sv=2022-11-02&se=2026-01-01&sig=§
PUT https://b.s3.amazonaws.com/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature=§
http://127.0.0.1:8888/lab?token=§
environ({'PATH': '/usr/bin', 'HF_TOKEN': '§', 'HOME': '/root'})
Namespace(lr=0.1, wandb_key='§', epochs=3)
+ export CLEARML_API_SECRET_KEY=§
++ docker login -u ci -p § registry.lab.example
{"level": "info", "msg": "connect", "password": "§", "port": 5432}
{"msg": "config {\\"auth_token\\": \\"§\\", \\"rank\\": 0}"}
machine api.wandb.ai login user password §
  password §
db.lab.example:5432:runs:trainer:§
"auth": "§"
kim:$6$rounds$§:19000:0:99999:7:::
kim:$apr1$ab$§
posting to https://hooks.slack.com/services/T00/B00/§
POST https://api.telegram.org/bot123456789:§/sendMessage
Config(api_key='§', base_url='https://api.lab.example')
config.auth.secret => §
[('Content-Type', 'json'), ('X-Auth-Token', '§')]
secret_key: '§'
ipmitool -I lanplus -H bmc1 -U admin -P § power status
MIT-MAGIC-COOKIE-1  §
enable secret 5 §
snmp-server community § RO
Password for kim: §
requirepass §
lfs credential: username=kim password=§
"""
LAUNCH = """\
docker run -e HF_TOKEN=§ --gpus all image python train.py
mpirun -x WANDB_API_KEY=§ -x NCCL_DEBUG=INFO -np 8 ./train
srun --export=ALL,DB_PASSWORD=§,NCCL_DEBUG=INFO python train.py
sshpass -p § ssh node2 hostname
sshpass -p'§' scp a b:
mysql -h db -u root -p§ runs
curl -u kim:§ https://artifacts.lab.example/x.tgz
curl -H "X-Api-Key: §" https://api.lab.example
curl --header 'Authorization: token §' https://api.lab.example
wget --user kim --password § https://x.lab.example/y
wandb login § --relogin
huggingface-cli login --token §
kubectl create secret generic db --from-literal=pw=§
kubectl create secret docker-registry r --docker-password=§ --docker-username=k
echo "§" | docker login --username kim --password-stdin
echo § | sudo -S systemctl restart nvidia-fabricmanager
sudo -S reboot <<< "§"
python train.py --wandb-key § --lr 0.1
python train.py --api_key=§
redis-cli -h cache -a § ping
aws configure set aws_secret_access_key §
mc alias set lab https://minio.lab.example admin §
git clone https://oauth2:§@git.lab.example/a/b.git
helm upgrade x ./x --set auth.password=§
vault kv put secret/train token=§
openssl enc -aes-256-cbc -pass pass:§ -in a
ldapsearch -x -D cn=admin -w § -b dc=x
htpasswd -b /etc/nginx/pw kim §
smbclient //fs/data -U kim%§
rabbitmqctl add_user train §
psql "host=db user=k password=§ dbname=runs"
mount -t cifs //fs/x /mnt -o username=kim,password=§
ray start --address=head:6379 --redis-password=§
jupyter lab --NotebookApp.token=§ --port 8888
ngrok authtoken §
zip -P § out.zip log
torchrun train.py --hub-token '§' --epochs 2
ETCDCTL_USER=root:§ etcdctl get /
lftp -u kim,§ sftp://store.lab.example
rootpw --plaintext §
"""
MANIFEST = """\
- name: WANDB_API_KEY\\n  value: §
- name: DB_PASSWORD\\n  value: "§"
- value: §\\n  name: HF_TOKEN
env: [{name: HF_TOKEN, value: §}, {name: NCCL_DEBUG, value: INFO}]
{"name": "MY_TOKEN", "value": "§"}
  "name": "MY_PASSWORD",\\n  "value": "§"
ENV API_TOKEN §
ENV API_TOKEN=§ NCCL_DEBUG=INFO
args: ["--token", "§"]
  args:\\n  - --password\\n  - §
kind: Secret\\nstringData:\\n  db: §
apiVersion: v1\\ndata:\\n  x.conf: §\\nkind: Secret
    client-key-data: §
    token: §
api_key: |\\n  §
password: >-\\n  §
stringData:\\n  a.conf: |\\n    user=k\\n    §
.dockerconfigjson: §
<property><name>fs.s3a.secret.key</name><value>§</value></property>
<add key="ApiKey" value="§"/>
<password>§</password>
aws_secret_access_key = §
[registry]\\npassword = "§"
//registry.npmjs.org/:_authToken=§
  DB_PASS: §
kubectl --token=§ get pods
      POSTGRES_PASSWORD: '§'
-----BEGIN OPENSSH PRIVATE KEY-----\\n§\\n-----END OPENSSH PRIVATE KEY-----
{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\\\n§\\\\n-----END PRIVATE KEY-----\\\\n", "x": 1}
[secrets]\\ntracker = "§"\\n\\n[job]\\ngpus = 8
pass_phrase=§
| 用户 | 密码 |\\n|---|---|\\n| kim | § |
"""
PROSE = """\
the password is § for both nodes
Password for the bmc: §
my wandb api key is §, do not tell
I set the root password to § yesterday
use password § when asked
login: admin / §
credentials are admin:§
passphrase was "§"
the pw is §
pw: §
log in as root with password §
BMC access: user ADMIN password §
our registry secret is now §
das Passwort lautet §
Das Kennwort für den Knoten gn7 lautet §
le mot de passe pour le noeud gn7 est §
la contraseña para el nodo es §
a senha do nó é §
het wachtwoord voor de node luidt §
登录密码为§，请尽快修改
密码是 §
BMC パスワードは § です
비밀번호는 § 입니다
Zugangsdaten: Benutzer kim, Kennwort §
"""
DRESSES = {"env": ENV, "log": LOG, "launch": LAUNCH, "manifest": MANIFEST, "prose": PROSE}
VENDORS = """
    AKIA[A16] ASIA[A16] AIza[w35] ghp_[w36] gho_[w36] github_pat_[w22]_[w59] glpat-[w20] hf_[w34] nvapi-[w64]
    npm_[w36] pypi-AgEIcHlwaS5vcmc[w60] dckr_pat_[w27] dapi[h32] sk-[w48] sk-proj-[w60] sk-ant-api03-[w90]
    xoxb-123456789012-123456789012-[w24] xapp-1-A12-12-[h60] SG.[w22].[w43] SK[h32] sk_live_[w24] rk_test_[w24]
    123456789:AA[w33] M[w23].G[w5].[w30] hvs.[w90] dop_v1_[h64] ya29.[w60] GOCSPX-[w28] lsv2_pt_[h32]_[h10]
    gsk_[w52] r8_[w37] pplx-[w48] glsa_[w32]_[h8] tskey-auth-[w20] PMAK-[h24]-[h34] eyJ[w30].eyJ[w40].[w43]
    shpat_[h32] sntrys_[w60] ATATT3[w60] rubygems_[h48] [w40]
"""
BARE = (
    "I used § there",
    "error: 401 for § (rank 0)",
    "tokens=[§]",
    "key §, see above",
    "https://api.lab.example/x/§/y",
)


def _letters(chance: random.Random, kind: str) -> str:
    alphabet = {"h": _HEX, "w": _WORD, "A": string.ascii_uppercase + string.digits}[kind[0]]
    text = "".join(chance.choice(alphabet) for _ in range(int(kind.lstrip("hwAexord"))))
    return text if kind[0] == "A" else text[:-2] + "7q"[: len(text)] if kind[0] == "w" else text[:-2] + "7a"


def _made(chance: random.Random, pattern: str) -> str:
    head, bracket, rest = pattern.partition("[")
    while bracket:
        kind, _, rest = rest.partition("]")
        more, bracket, rest = rest.partition("[")
        head += _letters(chance, kind) + more
    return head


def planted(seed: int = 7) -> Iterator[tuple[str, str, str]]:
    """The dress, a text in which a secret stands, and the secret: each template with a typed and a made one."""
    chance = random.Random(seed)
    for dress, texts in DRESSES.items():
        for number, text in enumerate(texts.splitlines()):
            for secret in (TYPED[number % len(TYPED)], _letters(chance, MADE[number % len(MADE)])):
                yield dress, text.replace("\\n", "\n").replace("\\\n", "\\n").replace("§", secret), secret
    for number, pattern in enumerate(VENDORS.split()):
        secret = _made(chance, pattern)
        yield "bare", BARE[number % len(BARE)].replace("§", secret), secret
