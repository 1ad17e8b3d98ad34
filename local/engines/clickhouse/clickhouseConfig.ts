/** The engine's configuration files, written again at every start. */

import { writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

import { READER_ROLE } from './sessionSetup.ts'

/**
 * Writes config.xml and users.xml and returns the path of the first. `readerGrants` are
 * `database.table` or `database.*`: all the restricted reader may SELECT from. Views need `DEFINER
 * = default SQL SECURITY DEFINER`, else the reader would need the tables under them too.
 *
 * Roles come from users.xml because chDB has no writable access storage: GRANT and CREATE ROLE are
 * refused (ACCESS_STORAGE_READONLY), and its one user is always `default`.
 */
export function writeConfig(folder: string, readerGrants: readonly string[]): string {
  const usersFile = join(folder, 'users.xml')
  const configFile = join(folder, 'config.xml')
  writeFileSync(usersFile, usersXml(readerGrants), { mode: 0o600 })
  writeFileSync(configFile, configXml(usersFile), { mode: 0o600 })
  return configFile
}

function usersXml(readerGrants: readonly string[]): string {
  const grants = readerGrants.map((pattern) => `<query>GRANT SELECT ON ${quoteGrant(pattern)}</query>`)
  return `<clickhouse>
  <profiles><default>${tags(profile)}</default></profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants><query>GRANT admin</query><query>GRANT ${READER_ROLE}</query></grants>
    </default>
  </users>
  <roles>
    <admin><grants><query>GRANT ALL ON *.* WITH GRANT OPTION</query></grants></admin>
    <${READER_ROLE}><grants>${grants.join('')}</grants></${READER_ROLE}>
  </roles>
</clickhouse>
`
}

const profile = {
  // The engine's default is 1: an insert would be answered before it is checked for its token.
  async_insert: '0',
}

function configXml(usersFile: string): string {
  return `<clickhouse>
  <users_config>${escapeXml(usersFile)}</users_config>
  ${tags(server)}
  <merge_tree>${tags(mergeTree)}</merge_tree>
  <max_server_memory_usage>${memoryBytesMax()}</max_server_memory_usage>
</clickhouse>
`
}

/**
 * Sized for two cores shared with the indexer and Postgres; the engine's defaults are for a machine
 * of its own.
 */
const server = {
  mark_cache_size: '268435456',
  uncompressed_cache_size: '0',
  background_pool_size: '4',
  background_schedule_pool_size: '8',
  background_fetches_pool_size: '1',
  background_move_pool_size: '1',
  background_common_pool_size: '2',
}

const mergeTree = {
  // An acknowledged insert is on disk, as a Postgres commit is: the ledger says `written` from then
  // on, and a hole made by a power cut would stay unseen. Costs a quarter more wall time for
  // inserts of 100,000 rows.
  fsync_after_insert: '1',
  fsync_part_directory: '1',
  // A file for each column from this size on, which few inserts reach and merged parts do: with the
  // engine's 10 MB an insert of transactions makes 111 files, each of them made, filled, synced and
  // removed again.
  min_bytes_for_wide_part: '67108864',
}

/** Half of the machine, for the other half is Postgres's and the indexer's. */
function memoryBytesMax(): number {
  return Math.floor(totalmem() / 2)
}

function tags(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`)
    .join('')
}

function quoteGrant(pattern: string): string {
  const match = /^([A-Za-z0-9_]+)\.([A-Za-z0-9_]+|\*)$/.exec(pattern)
  if (match === null)
    throw new TypeError(`${JSON.stringify(pattern)} is neither database.table nor database.*`)
  return match[2] === '*' ? `\`${match[1]}\`.*` : `\`${match[1]}\`.\`${match[2]}\``
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
