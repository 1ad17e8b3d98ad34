/**
 * Conditions on decoded columns, as conditions on topics, which have indexes. A term only narrows
 * what a table's sub-select reads: the condition itself stays where the user wrote it, so a term
 * must follow from it and may be weaker. Only equalities that every row of the result must satisfy
 * are made terms (conjuncts of WHERE): they hold for no absent row either, so they may narrow both
 * sides of an outer join.
 */

import type { AbiType } from '#transform/abi/abiType.ts'
import type { DecodedTable } from './decodedTable.ts'

/** `column = value`, or `column IN (values)`, that every row of a SELECT must satisfy. */
export interface Equality {
  /** As written before the column: the name of a source in FROM. */
  readonly qualifier: string | undefined
  readonly column: string
  readonly values: readonly EqualityConstant[]
}

export type EqualityConstant = { readonly kind: 'text' | 'number'; readonly text: string }

/** The topic is one of these words. */
export interface KeyTerm {
  readonly topic: number
  /** 64 hex digits each. */
  readonly words: readonly string[]
}

/** An item of FROM, as far as terms need it. */
export interface NamedSource {
  /** The name by which a qualifier calls it, lowercase. */
  readonly name: string
  /** Undefined for what is no decoded table, and for one whose columns the query renames. */
  readonly table: DecodedTable | undefined
}

/**
 * The terms of one source. A bare column name counts only where one source alone can have it; where
 * more could, the engine refuses the name as ambiguous or a USING merged it.
 */
export function keyTermsOf(
  source: NamedSource,
  sources: readonly NamedSource[],
  equalities: readonly Equality[],
  hasMergedColumns: boolean,
): KeyTerm[] {
  const { table } = source
  if (!table || sources.filter(({ name }) => name === source.name).length > 1) return []
  return equalities.flatMap(({ qualifier, column, values }) => {
    if (qualifier !== undefined && qualifier.toLowerCase() !== source.name) return []
    const owners = sources.filter((other) => other.table && topicOf(other.table, column))
    if (qualifier === undefined && (owners.length !== 1 || hasMergedColumns)) return []
    const parameter = topicOf(table, column)
    const words = values.map((value) => parameter && wordOf(parameter.abi, value, parameter.isHash))
    const known = words.filter((word) => word !== undefined)
    return parameter && known.length > 0 && known.length === values.length
      ? [{ topic: parameter.topic, words: known }]
      : []
  })
}

function topicOf(
  { parameters }: DecodedTable,
  column: string,
): { readonly abi: AbiType; readonly topic: number; readonly isHash: boolean } | undefined {
  const found = parameters.find(({ name }) => name.toLowerCase() === column.toLowerCase())
  return found?.place.kind === 'topic' ? { abi: found.abi, ...found.place } : undefined
}

/** The word that encodes a constant, or undefined where it could also be something else. */
function wordOf(type: AbiType, { kind, text }: EqualityConstant, isHash: boolean): string | undefined {
  const bytes = kind === 'text' ? /^(?:0|\\)x([0-9a-fA-F]*)$/.exec(text)?.[1]?.toLowerCase() : undefined
  if (isHash) return bytes?.length === 64 ? bytes : undefined
  switch (type.kind) {
    case 'address':
      return bytes?.length === 40 ? bytes.padStart(64, '0') : undefined
    case 'fixedBytes':
      return bytes?.length === type.size * 2 ? bytes.padEnd(64, '0') : undefined
    case 'uint':
    case 'int':
      return integerWord(text)
    default:
      return undefined
  }
}

/** Two's complement; a number out of 256 bits encodes as none. */
function integerWord(text: string): string | undefined {
  if (!/^-?\d{1,78}$/.test(text)) return undefined
  const value = BigInt(text)
  if (value >= 2n ** 256n || value < -(2n ** 255n)) return undefined
  return BigInt.asUintN(256, value).toString(16).padStart(64, '0')
}
