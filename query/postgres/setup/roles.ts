/**
 * The role analysts' SQL runs under on Postgres: it may log in and read the views of the served
 * chains, and nothing else. Idempotent; run at every start, after the views were made (a view that
 * is made again has no grants).
 */

import { failure } from '#errors.ts'
import { quoteIdentifier, viewSchemaOf } from '#store/sql.ts'

/** Anything that runs SQL as the owner of the database. */
export interface Administrator {
  query(sql: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>
}

export interface ReaderRole {
  readonly name: string
  readonly password: string
  readonly chainIds: readonly number[]
  /**
   * Connections it may hold; several times the engine's slots, since one that was cut lingers for
   * half a second.
   */
  readonly connectionsMax: number
  /**
   * True on a cluster of our own: takes from everybody but superusers what PostgreSQL gives PUBLIC,
   * namely temporary tables, the schema `public`, the catalogs and every function with side
   * effects. On a shared cluster others live by these rights, so only the reader's own are looked
   * at; the gate and the read-only transaction stand alone there.
   */
  readonly ownsCluster: boolean
}

export const readerRoleName = 'millrace_reader'

/** @throws ReaderRoleError when a role of that name exists and may do more than a reader */
export async function prepareReaderRole(administrator: Administrator, role: ReaderRole): Promise<void> {
  const name = quoteIdentifier(role.name)
  await administrator.query(createRoleSql(role.name))
  await assertPlainRole(administrator, role.name)
  await administrator.query(
    `ALTER ROLE ${name} LOGIN NOINHERIT CONNECTION LIMIT ${role.connectionsMax} PASSWORD ${quoteLiteral(role.password)}`,
  )
  const settings = role.ownsCluster ? { ...roleSettings, ...superuserSettings } : roleSettings
  for (const [setting, value] of Object.entries(settings)) {
    await administrator.query(`ALTER ROLE ${name} SET ${setting} = ${quoteLiteral(value)}`)
  }
  await administrator.query(databaseRightsSql(role.name))
  for (const chainId of role.chainIds) await grantViews(administrator, role.name, chainId)
  if (!role.ownsCluster) return
  await administrator.query(revokePublicSql)
  await administrator.query(revokeCatalogsSql)
}

/**
 * Only a superuser may take attributes away, so a role that has some is refused instead of used.
 */
async function assertPlainRole(administrator: Administrator, roleName: string): Promise<void> {
  const { rows } = await administrator.query(
    `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
       OR EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid) AS privileged
     FROM pg_roles r WHERE rolname = ${quoteLiteral(roleName)}`,
  )
  if (rows[0]?.['privileged'] !== false) throw new ReaderRoleError(roleName)
}

/** Lets the role read a chain's views; call again after they were replaced. */
export async function grantViews(
  administrator: Administrator,
  roleName: string,
  chainId: number,
): Promise<void> {
  const schema = quoteIdentifier(viewSchemaOf(chainId))
  const name = quoteIdentifier(roleName)
  await administrator.query(`GRANT USAGE ON SCHEMA ${schema} TO ${name}`)
  await administrator.query(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${name}`)
}

/** Limits that hold should a request ever forget its own, smaller ones. */
const roleSettings: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  statement_timeout: '35s',
  lock_timeout: '1s',
  transaction_timeout: '40s',
  idle_in_transaction_session_timeout: '40s',
  idle_session_timeout: '10min',
  client_connection_check_interval: '500ms',
  work_mem: '32MB',
  max_parallel_workers_per_gather: '0',
  search_path: '',
  timezone: 'UTC',
  bytea_output: 'hex',
  jit: 'off',
}

/**
 * `temp_file_limit` is what ends array_agg and cross-join floods: about 0.9 s in, by measurement.
 */
const superuserSettings: Readonly<Record<string, string>> = { temp_file_limit: '512MB' }

/** Two processes may start at once; the second finds the role there. */
function createRoleSql(name: string): string {
  return `DO $create$ BEGIN CREATE ROLE ${quoteIdentifier(name)};
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $create$`
}

/** The role's own rights in the database: to connect, and nothing more. */
function databaseRightsSql(roleName: string): string {
  const name = quoteIdentifier(roleName)
  return `DO $rights$ BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM ${name}', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO ${name}', current_database());
    IF to_regnamespace('public') IS NOT NULL THEN REVOKE ALL ON SCHEMA public FROM ${name}; END IF;
  END $rights$`
}

const revokePublicSql = `DO $revoke$ BEGIN
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  IF to_regnamespace('public') IS NOT NULL THEN REVOKE ALL ON SCHEMA public FROM PUBLIC; END IF;
END $revoke$`

/**
 * Functions that are not volatile by declaration and still tell of the server or run a query made
 * of text, and those that make a large value of a small one. Every volatile function goes too:
 * sleeping, locking, notifying, writing, reading files and settings all count as such.
 */
const revokedNames = [
  'current_setting',
  '%\\_to\\_xml%',
  'pg\\_read%',
  'pg\\_ls%',
  'pg\\_stat%',
  'pg\\_get%',
  'has\\_%privilege',
  'inet\\_%',
  'xpath%',
  'repeat',
  'format',
  'to\\_reg%',
  'pg\\_%size%',
  'version',
  'current\\_database',
  'current\\_user',
  'session\\_user',
]

const revokeCatalogsSql = `DO $revoke$ DECLARE item record; BEGIN
  FOR item IN
    SELECT c.oid::regclass AS name FROM pg_class c
    WHERE c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      AND c.relkind IN ('r', 'v') AND has_table_privilege('public', c.oid, 'SELECT')
  LOOP EXECUTE format('REVOKE ALL ON %s FROM PUBLIC', item.name); END LOOP;
  FOR item IN
    SELECT p.oid::regprocedure AS name FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'p')
      AND (p.provolatile = 'v' OR p.proname LIKE ANY (ARRAY[${revokedNames.map((name) => `'${name}'`).join(', ')}]))
      AND has_function_privilege('public', p.oid, 'EXECUTE')
  LOOP EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', item.name); END LOOP;
END $revoke$`

function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** The role analysts' SQL would run under may do more than read; a person has to look at it. */
export class ReaderRoleError extends failure('ReaderRoleError', 'reader_role_privileged', 'stop') {
  readonly roleName: string

  constructor(roleName: string) {
    super(`the Postgres role ${roleName} exists and has more rights than a reader; drop it or take them away`)
    this.roleName = roleName
  }
}
