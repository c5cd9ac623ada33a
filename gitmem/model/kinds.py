"""Names of the format: kinds, types, statuses. No imports: quick commands load this and little else."""

PREFIX = {"memory": "mem", "gotcha": "got", "summary": "sum", "snapshot": "snp", "work": "wrk", "dna": "dna", "event": "evt"}
KIND = {prefix: kind for kind, prefix in PREFIX.items()}
NAMED = frozenset({"work", "dna"})  # their ids end in a slug, one file a name; the others in a ULID

TYPES = ("decision", "pattern", "rule", "bug", "insight", "context", "fact", "preference", "task")
STATUSES = ("active", "decayed", "archived", "pinned")
ORIGINS = ("manual", "captured", "extracted", "imported", "consolidated")
CATEGORIES = ("build", "test", "lint", "runtime", "integration", "security", "general")
SEVERITIES = ("critical", "warning", "info")
