"""Tables in, tables out: what the stages compute, pure; no disk, no clock, no Prefect."""
