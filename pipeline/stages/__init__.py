"""One pure function per stage: frames in, frames out; no disk, no clock, no Prefect."""
