"""The work of one task: read shards, call one pure function, write shards, tell the counts.

Every function takes the configuration's path and keys, so that it runs the same in this process,
in a worker process or on another machine; a shard that exists is not made again.
"""
