/** The statements that make a fresh engine session what a request asked for. */

import { queryError } from './QueryError.ts'

/** The login of a request: the program itself, or the reader whose SQL it passes on. */
export type EngineUser = 'admin' | 'reader'

/** The role of users.xml that the reader's sessions take. */
export const READER_ROLE = 'api_role'

export interface SessionWishes {
  readonly user: EngineUser
  readonly database: string | undefined
  readonly roles: readonly string[]
  /** Engine settings of this request, in order. */
  readonly settings: ReadonlyMap<string, string>
  /** Values of `{name:Type}` placeholders, in the server's text form. */
  readonly parameters: ReadonlyMap<string, string>
}

/**
 * SET ROLE comes before the settings, `readonly` after everything: it forbids any further SET.
 * @throws QueryError when the reader asks for another role.
 */
export function sessionSetup(wishes: SessionWishes): string {
  const statements: string[] = []
  if (wishes.database !== undefined) statements.push(`USE ${quoteName(wishes.database)}`)
  const roles = wishes.user === 'reader' ? readerRoles(wishes.roles) : wishes.roles
  if (roles.length > 0) statements.push(`SET ROLE ${roles.map(quoteName).join(', ')}`)
  const assignments = [...wishes.parameters].map(([name, value]) => assign(`param_${name}`, value))
  for (const [name, value] of settingsOf(wishes))
    if (name !== 'readonly') assignments.push(assign(name, value))
  if (assignments.length > 0) statements.push(`SET ${assignments.join(', ')}`)
  const readonly = wishes.user === 'reader' ? '1' : wishes.settings.get('readonly')
  if (readonly !== undefined) statements.push(`SET ${assign('readonly', readonly)}`)
  return statements.join('; ')
}

function readerRoles(roles: readonly string[]): readonly string[] {
  const other = roles.find((role) => role !== READER_ROLE)
  if (other !== undefined)
    throw queryError('SET_NON_GRANTED_ROLE', `Role ${other} is not granted to the reader.`)
  return [READER_ROLE]
}

// The limits of a reader's query. The API asks for less; these hold when it forgets to. Memory and result
// size keep one query from taking the engine down, the tree limits keep the parser from exhausting its stack.
const readerCeilings: Readonly<Record<string, number>> = {
  max_execution_time: 120,
  max_memory_usage: 2_000_000_000,
  max_result_rows: 10_000_000,
  max_result_bytes: 1_000_000_000,
  max_temporary_data_on_disk_size_for_query: 2_000_000_000,
  max_subquery_depth: 100,
  max_parser_depth: 300,
  max_ast_depth: 1_000,
  max_ast_elements: 50_000,
  max_expanded_ast_elements: 500_000,
  max_recursive_cte_evaluation_depth: 1_000,
  max_query_size: 262_144,
}

const readerConstants: Readonly<Record<string, string>> = {
  implicit_select: '0',
  allow_introspection_functions: '0',
  allow_ddl: '0',
}

function settingsOf(wishes: SessionWishes): Map<string, string> {
  const settings = new Map(wishes.settings)
  if (wishes.user === 'admin') return settings
  for (const [name, ceiling] of Object.entries(readerCeilings)) {
    const asked = Number(settings.get(name) ?? 0)
    // 0 means without limit.
    settings.set(name, String(asked > 0 && asked < ceiling ? asked : ceiling))
  }
  for (const [name, value] of Object.entries(readerConstants)) settings.set(name, value)
  return settings
}

/** The engine reads a quoted value as whatever type the setting has. */
function assign(name: string, value: string): string {
  if (!SETTING_NAME.test(name)) throw queryError('BAD_ARGUMENTS', `${JSON.stringify(name)} is no setting.`)
  return `${name} = ${quoteString(value)}`
}
const SETTING_NAME = /^[A-Za-z][A-Za-z0-9_]*$/

/** A string literal. No raw line end stays in it: an empty line would end the statement. */
export function quoteString(value: string): string {
  return `'${value.replace(/[\\'\n\r\t\0\b\f]/g, (character) => escapes[character] ?? character)}'`
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
}

function quoteName(name: string): string {
  return `\`${name.replace(/[\\`\n\r\0]/g, (character) => escapes[character] ?? `\\${character}`)}\``
}
