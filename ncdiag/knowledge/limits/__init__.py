"""What a job runs out of on a host, such as locked memory, files, ports and room; and storage that is gone."""
