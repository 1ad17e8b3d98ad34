/**
 * SQL as an engine of ours takes it: one SELECT, the functions that are allowed, the tables and
 * columns that exist.
 */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completeFromList,
  ifNotIn,
} from '@codemirror/autocomplete'
import { SQLDialect, schemaCompletionSource } from '@codemirror/lang-sql'
import { LanguageSupport } from '@codemirror/language'
import type { IndexerSchema } from '../../model/wire.ts'

/** Words of a query. Those of other statements are left out: they would be offered, and refused. */
const keywords =
  'all and any array as asc at between both by case cast coalesce collate cross cube current_date current_timestamp desc ' +
  'distinct else end escape except exclude exists false fetch filter first following for from full greatest group grouping ' +
  'groups having ilike in inner intersect interval is join last lateral leading least left like limit natural not null ' +
  'nullif nulls offset on only or order others outer over partition position preceding range recursive right rollup row ' +
  'rows select sets similar some then ties to trailing trim true unbounded union using values when where window with ' +
  'within zone'

const types =
  'bool boolean bytea date float4 float8 int int2 int4 int8 bigint jsonb numeric text timestamp timestamptz uuid varchar'
const clickhouseTypes =
  'date datetime fixedstring float32 float64 int8 int16 int32 int64 int128 int256 nullable string uint8 uint16 uint32 uint64 ' +
  'uint128 uint256'

/** Outside of strings and comments, and not behind a dot, where only columns stand. */
const elsewhere = ['QuotedIdentifier', 'String', 'LineComment', 'BlockComment', '.']

/** Highlights and completes for the schema's engine; without a schema only the words of SQL. */
export function sqlLanguage(schema: IndexerSchema | null): LanguageSupport {
  const functions = schema?.functions ?? []
  const isClickHouse = schema?.engine === 'clickhouse'
  const dialect = SQLDialect.define({
    keywords,
    // The parser compares in lower case.
    builtin: functions.join(' ').toLowerCase(),
    types: isClickHouse ? clickhouseTypes : types,
    doubleQuotedStrings: false,
    identifierQuotes: isClickHouse ? '`"' : '"',
    operatorChars: '*+-%<>!=&|~^/?#@',
  })
  const words = completeFromList([
    ...keywords.split(' ').map((word) => ({ label: word.toUpperCase(), type: 'keyword', boost: -1 })),
    ...functions.map((name) => ({ label: name, type: 'function', apply: name, boost: -2 })),
  ])
  const relations = relationsOf(schema)
  const named = (context: CompletionContext) => columnsOfNamed(context, relations)
  // The source for schemas offers no table where the word so far is a function's name: `log` is
  // one, `logs` a table.
  const tables = completeFromList([...relations.values()].map(({ self }) => self))
  const { language } = dialect
  const completes = (autocomplete: (context: CompletionContext) => ReturnType<typeof words>) =>
    language.data.of({ autocomplete })
  return new LanguageSupport(language, [
    completes(schemaCompletionSource({ dialect, schema: Object.fromEntries(relations) })),
    completes(ifNotIn(elsewhere, (context) => (isFunctionName(context, functions) ? tables(context) : null))),
    completes(ifNotIn(elsewhere, named)),
    completes(ifNotIn(elsewhere, words)),
  ])
}

interface RelationCompletions {
  readonly self: Completion
  readonly children: readonly Completion[]
}

function relationsOf(schema: IndexerSchema | null): Map<string, RelationCompletions> {
  return new Map(
    (schema?.relations ?? []).map(({ name, comment, columns }) => [
      name,
      {
        self: { label: name, type: 'class', detail: 'table', info: comment, boost: 2 },
        children: columns.map((column) => ({
          label: column.name,
          apply: writtenName(column.name),
          type: 'property',
          detail: column.type,
          info: `${column.comment} (${name})`,
          boost: 1,
        })),
      },
    ]),
  )
}

/** Columns named like words that cannot stand alone. */
const reserved: ReadonlySet<string> = new Set(['from', 'to'])

/** A column's name as a query writes it. */
export const writtenName = (column: string): string => (reserved.has(column) ? `"${column}"` : column)

function isFunctionName(context: CompletionContext, functions: readonly string[]): boolean {
  const word = context.matchBefore(/\w+/)?.text.toLowerCase()
  return word !== undefined && functions.some((name) => name.toLowerCase() === word)
}

/**
 * Columns of the tables that the query names anywhere, so that SELECT can be written before or
 * after FROM.
 */
function columnsOfNamed(
  context: CompletionContext,
  relations: ReadonlyMap<string, RelationCompletions>,
): CompletionResult | null {
  const word = context.matchBefore(/\w+/)
  if (!word && !context.explicit) return null
  const words = new Set(context.state.doc.toString().toLowerCase().match(/\w+/g))
  const options = [...relations].flatMap(([name, { children }]) => (words.has(name) ? children : []))
  const unique = [...new Map(options.map((option) => [option.label, option])).values()]
  return { from: word?.from ?? context.pos, options: unique, validFor: /^\w*$/ }
}
