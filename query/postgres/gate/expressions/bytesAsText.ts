/**
 * Bytes where text is meant: as `0x` and lowercase hex digits, never as PostgreSQL's `\x…`. The gate
 * does not know types, the server does: calls of these functions are put around operands, and of two
 * with one name the server takes the one for bytes, or the one that changes nothing. They are
 * inlined, so what they surround is planned as if it stood alone.
 */

import { isHexConstant, matchesNoBytes, rangeOfPattern } from '../../../text.ts'
import {
  fieldsOf,
  isFields,
  type NodeFields,
  nodeList,
  ownName,
  type Rebuild,
  stringConstant,
  stringOf,
  type Walk,
} from '../../parse/walk.ts'
import { bytesConstant, textConstant } from './columns.ts'
import { ownFunctions, textFunctions, textOperators, textTypes } from './functions.ts'

/** The statements that make the functions, beside the views. `schema` is quoted. */
export const bytesAsTextStatements = (schema: string): string[] =>
  [
    `{schema}.${asTextName}(value bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN '0x' || encode(value, 'hex')`,
    `{schema}.${asTextName}(value anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS 'SELECT value'`,
    `{schema}.${casedName}(value bytea, part text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN lower(part)`,
    `{schema}.${casedName}(value anyelement, part text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS 'SELECT part'`,
    `{schema}.${nonBytesName}(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN value`,
    `{schema}.${beginsName}(value bytea, low bytea, high bytea, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN value >= low AND value < high`,
    `{schema}.${beginsName}(value text, low bytea, high bytea, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN value LIKE pattern`,
    `{schema}.${joinedName}(head text, tail bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN head || ('0x' || encode(tail, 'hex'))`,
    `{schema}.${joinedName}(head bytea, tail text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
      RETURN '0x' || encode(head, 'hex') || tail`,
  ]
    .map((statement) => `CREATE FUNCTION ${statement}`)
    .concat(joins.map(joinStatement))
    .map((statement) => statement.replaceAll('{schema}', schema))

const joinedName = 'joined'

/** Operands of `||`, and what joins them: PostgreSQL's own, and ours where text meets bytes. */
const joins = [
  ['text', 'bytea', `{schema}.${joinedName}`],
  ['bytea', 'text', `{schema}.${joinedName}`],
  ['bytea', 'bytea', 'byteacat'],
  ['text', 'text', 'textcat'],
  ['text', 'anynonarray', 'textanycat'],
  ['anynonarray', 'text', 'anytextcat'],
  ['jsonb', 'jsonb', 'jsonb_concat'],
  ['anycompatiblearray', 'anycompatiblearray', 'array_cat'],
  ['anycompatiblearray', 'anycompatible', 'array_append'],
  ['anycompatible', 'anycompatiblearray', 'array_prepend'],
] as const

const joinStatement = ([left, right, by]: (typeof joins)[number]): string =>
  `CREATE OPERATOR {schema}.|| (LEFTARG = ${left}, RIGHTARG = ${right}, FUNCTION = ${by})`

const asTextName = 'as_text'
/** A part of a text in the case that the text is in. */
const casedName = 'cased'
const beginsName = 'begins'
/** A pattern that no bytes match is asked of texts alone: of bytes there is no such function. */
export const nonBytesName = 'non_bytes'

/**
 * Functions of text that PostgreSQL does not have for bytes, or has with another meaning than the
 * characters analysts see; by the arguments that are text. Those that are missing here (`substring`,
 * `length`, `||` of bytes, `md5`) count and join bytes.
 */
const textArguments: ReadonlyMap<string, readonly number[] | 'all'> = new Map(
  Object.entries({
    lower: [0],
    upper: [0],
    initcap: [0],
    char_length: [0],
    character_length: [0],
    left: [0],
    right: [0],
    replace: [0, 1, 2],
    translate: [0, 1, 2],
    split_part: [0, 1],
    strpos: [0, 1],
    starts_with: [0, 1],
    lpad: [0],
    rpad: [0],
    concat: 'all',
    concat_ws: 'all',
    string_agg: [0, 1],
    to_jsonb: 'all',
    jsonb_build_array: 'all',
    jsonb_build_object: 'all',
    jsonb_agg: 'all',
    jsonb_object_agg: 'all',
  }),
)

/** They cut spaces or the characters of a constant; of bytes, '0x00', they cut bytes. */
const trims: ReadonlySet<string> = new Set(['btrim', 'ltrim', 'rtrim'])

/** The rebuilt arguments of a call. */
export function rebuildArguments(
  name: string,
  args: readonly unknown[],
  walk: Walk,
  rebuild: Rebuild,
): readonly unknown[] {
  const isText = textPlaces(name, args)
  const [first] = args
  return args.map((argument, index) => {
    if (!isText(index)) return rebuild.node(argument, walk)
    const text = stringConstant(argument)
    if (text === undefined) return asText(rebuild.node(argument, walk), walk)
    return index > 0 && isHexPart(text) && stringConstant(first) === undefined
      ? called(casedName, [rebuild.node(first, walk), textConstant(text)], walk)
      : textConstant(text)
  })
}

function textPlaces(name: string, args: readonly unknown[]): (index: number) => boolean {
  if (trims.has(name)) return () => isOfText(args)
  // `position(part IN whole)`: of a constant that is no '0x…' the whole can only be text.
  if (name === 'position') {
    const part = stringConstant(args[1])
    return () => part !== undefined && !/^[0\\]x/.test(part)
  }
  const places = textArguments.get(name) ?? []
  return (index) => places === 'all' || places.includes(index)
}

/** Whether a call of one of these trims a text, before it is rebuilt or after. */
function isOfText([_, characters]: readonly unknown[]): boolean {
  const text = stringConstant(characters)
  if (text !== undefined) return !isHexConstant(text)
  const name = stringOf(nodeList(fieldsOf(characters, 'FuncCall')['funcname']).at(-1))
  return characters === undefined || name === casedName
}

/** Whether its letters could be digits of bytes, whose text is in lowercase. */
const isHexPart = (text: string): boolean => /[A-FX]/.test(text) && /^(0[xX])?[0-9a-fA-F%_]*$/.test(text)

/** An operand as text if it is bytes, else as it is. Constants have no type yet. */
export function asText(operand: unknown, walk: Walk): unknown {
  const isKept = isText(operand) || (isFields(operand) && ('A_Const' in operand || 'SubLink' in operand))
  return isKept ? operand : called(asTextName, [operand], walk)
}

/** Whether an expression is text by its form alone, as `calls->0->>'to'` is. */
export function isText(expression: unknown): boolean {
  if (!isFields(expression)) return false
  const [[type, fields] = ['', {}]] = Object.entries(expression)
  if (!isFields(fields)) return false
  if (type === 'FuncCall') {
    const name = stringOf(nodeList(fields['funcname']).at(-1)) ?? ''
    return textFunctions.has(name) && (!trims.has(name) || isOfText(nodeList(fields['args'])))
  }
  if (type === 'A_Expr') return textOperators.has(stringOf(nodeList(fields['name'])[0]) ?? '')
  return type === 'TypeCast' && isTextType(fields['typeName'])
}

export function isTextType(typeName: unknown): boolean {
  if (!isFields(typeName) || typeName['arrayBounds'] !== undefined) return false
  return textTypes.has(stringOf(nodeList(typeName['names']).at(-1)) ?? '')
}

/** The operand that {@link asText} surrounds; undefined for anything else. */
export function surroundedByAsText(call: NodeFields): unknown {
  const names = nodeList(call['funcname']).map(stringOf)
  return names.length === 2 && names[1] === asTextName && names[0] !== 'pg_catalog'
    ? nodeList(call['args'])[0]
    : undefined
}

const ownCalls: ReadonlySet<string> = new Set(ownFunctions.values())

/** Whether Postgres would name an output after the function put around its value. */
export function isNamedAsText(expression: unknown): boolean {
  if (!isFields(expression)) return false
  const [[type, fields] = ['', {}]] = Object.entries(expression)
  if (!isFields(fields)) return false
  if (type === 'FuncCall')
    return (
      surroundedByAsText(fields) !== undefined ||
      ownCalls.has(stringOf(nodeList(fields['funcname']).at(-1)) ?? '')
    )
  if (type === 'CaseExpr') return isNamedAsText(fields['defresult'])
  return (type === 'TypeCast' || type === 'A_Indirection') && isNamedAsText(fields['arg'])
}

/**
 * `left LIKE pattern` and its relatives. The beginning of bytes is a range of them, which an index
 * can serve.
 */
export function rebuildPattern(operator: string, left: unknown, pattern: string, walk: Walk): NodeFields {
  if (isText(left)) return matches(operator, left, textConstant(pattern))
  const range = rangeOfPattern(pattern)
  if (range && (operator === '~~' || operator === '!~~')) {
    const begins = called(
      beginsName,
      [left, bytesConstant(range.low), bytesConstant(range.high), textConstant(pattern)],
      walk,
    )
    // An operator has no name, a call would give its own to an output; the planner drops two NOTs.
    return operator === '~~' ? not(not(begins)) : not(begins)
  }
  if (operator in patternKinds && matchesNoBytes(pattern))
    return matches(operator, called(nonBytesName, [left], walk), textConstant(pattern))
  const right = isHexPart(pattern)
    ? called(casedName, [left, textConstant(pattern)], walk)
    : textConstant(pattern)
  return matches(operator, asText(left, walk), right)
}

const matches = (operator: string, left: unknown, right: unknown): NodeFields => ({
  A_Expr: {
    kind: patternKinds[operator] ?? 'AEXPR_OP',
    name: [{ String: { sval: operator } }],
    lexpr: left,
    rexpr: right,
  },
})

const patternKinds: Readonly<Record<string, string>> = {
  '~~': 'AEXPR_LIKE',
  '!~~': 'AEXPR_LIKE',
  '~~*': 'AEXPR_ILIKE',
  '!~~*': 'AEXPR_ILIKE',
}

const not = (operand: unknown): NodeFields => ({ BoolExpr: { boolop: 'NOT_EXPR', args: [operand] } })

function called(name: string, args: readonly unknown[], walk: Walk): NodeFields {
  return {
    FuncCall: {
      funcname: ownName(name, walk),
      args,
      funcformat: 'COERCE_EXPLICIT_CALL',
    },
  }
}
