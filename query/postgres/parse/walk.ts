/**
 * The state that the checks of one Postgres statement share: the walk's own, typed access to parse nodes,
 * and refusals.
 */

import { isRecord } from '#primitives.ts'
import type { KeyTerm } from '../../decoded/keyTerms.ts'
import type { RelationColumn } from '../../logicalType.ts'
import type { Catalog } from '../../relations/catalog.ts'
import { UserQueryError, type UserQueryErrorCode } from '../../UserQueryError.ts'
import { placeOfByte } from './dialect.ts'

export type NodeFields = Readonly<Record<string, unknown>>

/** A parse node as libpg-query prints it: one key, the type. */
export interface WrappedNode {
  readonly type: string
  readonly fields: NodeFields
}

/** Counters and findings of one statement; the only mutable state of the gate. */
export interface GateFindings {
  readonly relations: Set<string>
  /** Names a column reference may end in because the query itself gives them. */
  readonly names: Set<string>
  readonly columnReferences: { readonly name: string; readonly at: number }[]
  /** Places of the column references in the rebuilt tree, by their fields. */
  readonly places: Map<unknown, number>
  /** Columns of the sub-selects that stand for tables of the catalog. */
  readonly relationColumns: Map<unknown, readonly RelationColumn[]>
  /** SELECTs with QUALIFY, by their fields in the rebuilt tree. */
  readonly qualified: Map<unknown, Qualified>
  nodeCount: number
  collectorCount: number
  selectCount: number
}

/** The names of a SELECT with QUALIFY: of its outputs and of the columns in its FROM. */
export interface Qualified {
  readonly outputs: readonly string[]
  readonly columns: readonly string[]
}

/** By the node of the table in FROM. */
export type KeyTerms = ReadonlyMap<NodeFields, readonly KeyTerm[]>

export interface Walk {
  readonly sql: string
  readonly catalog: Catalog
  /**
   * How many ranges of blocks come as parameters; absent: none, and all blocks of the catalog are
   * read.
   */
  readonly boundRanges: number | undefined
  readonly findings: GateFindings
  /** Names of the CTEs visible here. */
  readonly ctes: ReadonlySet<string>
  /** Conditions that narrow the decoded tables in FROM of the SELECT around. */
  readonly keyTerms: KeyTerms
  /** Columns whose names have capitals, by their lowercase names. */
  readonly spellings: ReadonlyMap<string, string>
  readonly selectDepth: number
  /**
   * Within the inputs of an aggregate that collects them (collecting.ts), which are computed twice.
   */
  readonly isCollecting: boolean
  /** UTF-8 byte offset of the nearest enclosing node that has one, -1 when none has. */
  readonly at: number
}

/** A parse node's members. */
export const isFields: (value: unknown) => value is NodeFields = isRecord

/** Splits `{Type: fields}`; null for the empty node `{}`. */
export function unwrap(value: unknown, walk: Walk): WrappedNode | null {
  if (!isFields(value)) throw sqlRefusal(walk, 'this construct is not supported')
  const entries = Object.entries(value)
  const [entry] = entries
  if (!entry) return null
  const [type, fields] = entry
  if (entries.length !== 1 || !isFields(fields)) throw sqlRefusal(walk, 'this construct is not supported')
  return { type, fields }
}

export function nodeList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The text of a `String` node, or undefined for any other. */
export function stringOf(value: unknown): string | undefined {
  const inner = isFields(value) ? value['String'] : undefined
  if (!isFields(inner)) return undefined
  const text = inner['sval'] ?? ''
  return typeof text === 'string' ? text : undefined
}

/** The value of a string constant, or undefined for any other node. */
export function stringConstant(value: unknown): string | undefined {
  const constant = isFields(value) ? value['A_Const'] : undefined
  const inner = isFields(constant) ? constant['sval'] : undefined
  if (!isFields(inner)) return undefined
  const text = inner['sval'] ?? ''
  return typeof text === 'string' ? text : undefined
}

/**
 * The value of an integer constant, or undefined for any other node. libpg-query leaves a zero out.
 */
export function integerConstant(value: unknown): number | undefined {
  const constant = isFields(value) ? value['A_Const'] : undefined
  const inner = isFields(constant) ? constant['ival'] : undefined
  if (!isFields(inner)) return undefined
  const integer = inner['ival'] ?? 0
  return typeof integer === 'number' ? integer : undefined
}

/** Moves the walk's place to a node that has one. */
export function movedTo(walk: Walk, fields: NodeFields): Walk {
  const at = fields['location']
  return typeof at === 'number' && at >= 0 ? { ...walk, at } : walk
}

export function sqlRefusal(walk: Walk, problem: string, hint?: string): UserQueryError {
  return errorAt(walk, 'sql_refused', problem, hint)
}

export function errorAt(
  walk: Walk,
  code: UserQueryErrorCode,
  problem: string,
  hint?: string,
): UserQueryError {
  const position = walk.at < 0 ? undefined : placeOfByte(walk.sql, walk.at)
  return new UserQueryError(code, problem, { position, hint })
}

/** The schema of the program's functions: beside the views, which a catalog always has. */
export function schemaOf({ catalog }: Walk): string {
  for (const { source } of catalog.values()) if (source.kind !== 'derived') return source.schema
  throw new TypeError('a catalog without a view')
}

/** Names, or the parts of one, as trees hold them. */
export const nameParts = (...parts: readonly string[]): readonly NodeFields[] =>
  parts.map((part) => ({ String: { sval: part } }))

/** The name of one of the program's functions. */
export const ownName = (name: string, walk: Walk): readonly NodeFields[] => nameParts(schemaOf(walk), name)

/** Checks and copies parse nodes by the rules of nodes.ts; the special cases get it by argument. */
export interface Rebuild {
  /** A wrapped node, checked, as a wrapped node. */
  node(value: unknown, walk: Walk): unknown
  /** The fields of a node of `type`, checked. */
  fields(type: string, fields: NodeFields, walk: Walk): NodeFields
}

/** The value, if it has fields; else none. */
export const bare = (value: unknown): NodeFields => (isFields(value) ? value : {})

/** Fields of a node of this type; of another one none. */
export const fieldsOf = (value: unknown, type: string): NodeFields => bare(bare(value)[type])
