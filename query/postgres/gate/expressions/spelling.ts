/**
 * Names in any case. Postgres lowers a name that is not quoted, so a column `orderId` could only be
 * named in quotes, and `AS BlockNum` would be answered as `blocknum`. The gate gives such a name,
 * wherever the query uses or makes it, one spelling: that of the catalog, else the one in which the
 * query itself gives it.
 */

import type { Catalog } from '../../../relations/catalog.ts'
import { offsetOfByte } from '../../../UserQueryError.ts'
import { type Label, several } from '../../../words/labels.ts'
import { isFields, type NodeFields, nodeList, stringOf, type Walk } from '../../parse/walk.ts'

/** Names that have capitals, by their lowercase forms. */
export function spellingsOf(catalog: Catalog, sql: string, statement: unknown): Map<string, string> {
  const columns = [...catalog.values()].flatMap((relation) => relation.columns.map(({ name }) => name))
  const lower = new Set(columns.map((name) => name.toLowerCase()))
  const sources = namesOfSources(statement)
  const given = [...writtenNames(sql)].filter(([name]) => !lower.has(name) && !sources.has(name))
  return new Map([...given, ...columns.map((name): [string, string] => [name.toLowerCase(), name])])
}

/** Texts and comments, so that no word is found in them; the words behind; what is quoted. */
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_][\w$]*/g

/**
 * Names with capitals, by their lowercase forms: as they are written behind AS, quoted or not, else
 * as the word stands first.
 */
function writtenNames(sql: string): Map<string, string> {
  const words = (sql.match(tokens) ?? []).filter((word) => !/^'|^--|^\/\*/.test(word))
  const isAlias = (_: string, index: number) => words[index - 1]?.toLowerCase() === 'as'
  const plain = words.filter((word) => !word.startsWith('"'))
  const named = new Map<string, string>()
  for (const word of [...words.filter(isAlias).map(unquoted), ...plain])
    if (!named.has(word.toLowerCase())) named.set(word.toLowerCase(), word)
  return new Map([...named].filter(([lower, word]) => lower !== word))
}

const unquoted = (word: string): string =>
  word.startsWith('"') ? word.slice(1, -1).replaceAll('""', '"') : word

/** Names of the outermost select list as they are written. */
export function labelsOf(statement: unknown, sql: string): readonly Label[] {
  const written = writtenNames(sql)
  let select = fieldsOf(statement, 'SelectStmt')
  while (isFields(select['larg'])) select = select['larg']
  return nodeList(select['targetList']).map((target) => {
    const { name, val } = fieldsOf(target, 'ResTarget')
    if (typeof name === 'string') return written.get(name)
    const column = fieldsOf(val, 'ColumnRef')
    const path = nodeList(column['fields'])
    if (path.length > 0 && stringOf(path.at(-1)) === undefined) return several
    const at = column['location'] ?? 0
    return path.length === 0 ? undefined : nameAt(sql, offsetOfByte(sql, Number(at)))
  })
}

const fieldsOf = (value: unknown, type: string): NodeFields => {
  const inner = isFields(value) ? value[type] : undefined
  return isFields(inner) ? inner : {}
}

/** The last part of `a.b`, where it is not quoted. */
const nameAt = (sql: string, at: number): string | undefined =>
  /^(?:(?:"(?:[^"]|"")*"|[\w$]+)\s*\.\s*)?([A-Za-z_][\w$]*)/.exec(
    sql.slice(at, at + NAME_CHARACTERS_MAX),
  )?.[1]

/** Two names and a point, with room for blanks. */
const NAME_CHARACTERS_MAX = 200

/** The names of tables in the query: Postgres' own way, since a bare one can be a column too. */
function namesOfSources(statement: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  const waiting: unknown[] = [statement]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value)
    if (!isFields(value)) continue
    for (const key of ['aliasname', 'ctename', 'relname']) if (key in value) names.add(String(value[key]))
    waiting.push(...Object.values(value).filter((inner) => inner !== undefined))
  }
  return names
}

export const spelledColumn = (name: string, { spellings }: Walk): string =>
  spellings.get(name.toLowerCase()) ?? name

/**
 * A table of the catalog is called by its lowercase name: `"Transfer"."from"` and `transfer."from"`
 * are one.
 */
export const spelledSource = (name: string, { catalog }: Walk): string =>
  catalog.has(name.toLowerCase()) ? name.toLowerCase() : name
