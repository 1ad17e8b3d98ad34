-- Who writes, by the fencing number of its lease: a delete that an earlier writer had sent deletes nothing any more.
CREATE TABLE IF NOT EXISTS {database}.fences {on_cluster}
(
    fence UInt64 COMMENT 'of the lease in Postgres'
)
ENGINE = {engine:MergeTree()}
ORDER BY tuple();
