/**
 * Calls, operators, casts and sub-queries in expressions: allowed by name, by place and by their
 * constants.
 */

import {
  endlessPattern,
  escapeHint,
  escapeProblem,
  hexConstant,
  isEscape,
  isHexConstant,
  PATTERNS_MAX,
  patternsHint,
  patternsProblem,
  patternsWithin,
  plainPattern,
} from '../../../text.ts'
import { equalsHint, functionHint, typeHint } from '../../../words/hints.ts'
import {
  bare,
  errorAt,
  fieldsOf,
  integerConstant,
  isFields,
  type NodeFields,
  nameParts,
  nodeList,
  ownName,
  type Rebuild,
  sqlRefusal,
  stringConstant,
  stringOf,
  unwrap,
  type Walk,
} from '../../parse/walk.ts'
import { asText, isText, isTextType, rebuildArguments, rebuildPattern } from './bytesAsText.ts'
import { rebuildAlike } from './choices.ts'
import { collectors, countedCall, countedSelect, enterCollector } from './collecting.ts'
import { bytesConstant, castAsText, rebuildOperand, textConstant } from './columns.ts'
import {
  type ArgumentRule,
  castTypes,
  functionRules,
  operators,
  ownFunctions,
  PATTERN_CHARACTERS_MAX,
  patternOperators,
  pieces,
  shifts,
} from './functions.ts'

export function rebuildCall(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const name = functionName(fields['funcname'], walk)
  const rule = functionRules.get(name)
  if (!rule)
    throw sqlRefusal(
      walk,
      `the function ${name} is not allowed`,
      functionHint('postgres', name, functionRules.keys()),
    )
  const isOver = fields['over'] !== undefined
  if (rule.position === 'table') throw sqlRefusal(walk, `${name} is allowed in FROM only`)
  if (rule.position === 'window' && !isOver) throw sqlRefusal(walk, `${name} needs OVER`)
  if (rule.position === 'scalar' && (isOver || hasAggregateClause(fields))) {
    throw sqlRefusal(walk, `${name} is not an aggregate`)
  }
  const args = nodeList(fields['args'])
  if (args.length > (rule.argumentsMax ?? 100)) throw sqlRefusal(walk, `${name} has too many arguments`)
  for (const [index, argumentRule] of Object.entries(rule.arguments ?? {})) {
    assertArgument(name, args, Number(index), argumentRule, walk)
  }
  const isCollector = collectors.has(name)
  const inner = isCollector ? enterCollector(name, walk) : walk
  const { args: given, ...rest } = fields
  const rebuilt = rebuild.fields('FuncCall', rest, inner)
  const call = given === undefined ? rebuilt : { ...rebuilt, args: argumentsOf(name, args, inner, rebuild) }
  const own = ownFunctions.get(name)
  if (own !== undefined) return { FuncCall: { ...call, funcname: ownName(own, walk) } }
  return { FuncCall: isCollector ? countedCall(call, walk) : call }
}

function argumentsOf(
  name: string,
  args: readonly unknown[],
  walk: Walk,
  rebuild: Rebuild,
): readonly unknown[] {
  const [value, offset, otherwise] = args
  if (pieces.has(name))
    return rebuildArguments(name, args, walk, rebuild).map((argument, index) =>
      index === 0 ? argument : asPlace(argument),
    )
  if (!shifts.has(name) || otherwise === undefined) return rebuildArguments(name, args, walk, rebuild)
  const [own, given] = rebuildAlike([value, otherwise], walk, rebuild)
  return [own, rebuild.node(offset, walk), given, ...args.slice(3)]
}

/**
 * A number, or what the server refuses: of texts there are functions of the same names whose second
 * argument is a regular expression, and no row may bring one.
 */
const asPlace = (argument: unknown): unknown =>
  'A_Const' in bare(argument)
    ? argument
    : {
        TypeCast: {
          arg: { A_Expr: { kind: 'AEXPR_OP', name: nameParts('+'), rexpr: argument } },
          typeName: { names: nameParts('int4'), typemod: -1 },
        },
      }

const hasAggregateClause = (fields: NodeFields): boolean =>
  ['agg_order', 'agg_filter', 'agg_within_group', 'agg_star', 'agg_distinct'].some(
    (key) => fields[key] !== undefined,
  )

/** The name, with or without the grammar's own `pg_catalog.` prefix. */
function functionName(names: unknown, walk: Walk): string {
  const parts = nodeList(names).map(stringOf)
  const name = parts.at(-1)
  if (name === undefined || parts.length > 2 || (parts.length === 2 && parts[0] !== 'pg_catalog')) {
    throw sqlRefusal(walk, `the function ${parts.join('.')} is not allowed`)
  }
  return name
}

function assertArgument(
  name: string,
  args: readonly unknown[],
  index: number,
  rule: ArgumentRule,
  walk: Walk,
): void {
  const argument = args[index]
  if (argument === undefined) return
  const problem = argumentProblem(argument, args[index - 1], rule)
  if (problem) throw sqlRefusal(walk, `argument ${index + 1} of ${name} must be ${problem}`)
}

function argumentProblem(argument: unknown, previous: unknown, rule: ArgumentRule): string | undefined {
  const text = stringConstant(argument)
  switch (rule.kind) {
    case 'length': {
      const length = integerConstant(argument)
      const isOk = length !== undefined && length >= 0 && length <= rule.max
      return isOk ? undefined : `a number up to ${rule.max}, written out`
    }
    case 'pattern':
      return text !== undefined && text.length <= rule.max
        ? undefined
        : `a text of at most ${rule.max}, written out`
    case 'noLongerThanPrevious': {
      const isOk = text !== undefined && text.length <= (stringConstant(previous)?.length ?? -1)
      return isOk ? undefined : 'a text no longer than the one it replaces, written out'
    }
    case 'notText':
      return text === undefined && !isText(argument) ? undefined : 'a number; patterns are not supported here'
    case 'word':
      return text !== undefined && rule.words.includes(text.toLowerCase()) ? undefined : 'a known field'
  }
}

/** Kinds of A_Expr that compare their two sides, so that a '0x…' on one of them means bytes. */
const comparisons: ReadonlySet<string> = new Set([
  'AEXPR_OP',
  'AEXPR_OP_ANY',
  'AEXPR_OP_ALL',
  'AEXPR_DISTINCT',
  'AEXPR_NOT_DISTINCT',
  'AEXPR_NULLIF',
  'AEXPR_IN',
  'AEXPR_BETWEEN',
  'AEXPR_NOT_BETWEEN',
  'AEXPR_BETWEEN_SYM',
  'AEXPR_NOT_BETWEEN_SYM',
])
const comparisonOperators: ReadonlySet<string> = new Set([
  '=',
  '<>',
  '<',
  '>',
  '<=',
  '>=',
  'BETWEEN',
  'NOT BETWEEN',
  'BETWEEN SYMMETRIC',
  'NOT BETWEEN SYMMETRIC',
])

export function rebuildOperator(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const names = nodeList(fields['name']).map(stringOf)
  const operator = names[0] ?? ''
  const kind = String(fields['kind'])
  const isWord = kind.includes('BETWEEN')
  if (names.length !== 1 || (!isWord && !operators.has(operator))) {
    throw sqlRefusal(
      walk,
      `the operator ${names.join('.')} is not allowed`,
      operator === '==' ? equalsHint : undefined,
    )
  }
  const { lexpr, rexpr, ...rest } = fields
  if (patternOperators.has(operator)) {
    const match = (pattern: unknown): unknown =>
      rebuildPattern(operator, rebuildSubject(lexpr, walk, rebuild), patternOf(operator, pattern, walk), walk)
    if (!/_(ANY|ALL)$/.test(kind)) return match(rexpr)
    const boolop = kind.endsWith('ALL') ? 'AND_EXPR' : 'OR_EXPR'
    const matched = patternsOf(rexpr, walk).map(match)
    return matched.length === 1 ? matched[0] : { BoolExpr: { boolop, args: matched } }
  }
  if (operator === '||') return rebuildJoined(fields, walk, rebuild)
  const checked = rebuild.fields('A_Expr', rest, walk)
  if (!comparisons.has(kind) || !comparisonOperators.has(operator)) {
    return { A_Expr: { ...checked, ...rebuild.fields('A_Expr', present({ lexpr, rexpr }), walk) } }
  }
  const comparedWith = isText(lexpr) || isText(rexpr) ? 'text' : 'bytes'
  const sides = Object.entries(present({ lexpr, rexpr })).map(([side, operand]) => [
    side,
    rebuildOperand(operand, comparedWith, walk, rebuild),
  ])
  return { A_Expr: { ...checked, ...Object.fromEntries(sides) } }
}

function present(fields: NodeFields): NodeFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** A constant matched with a pattern is text: it has no type that a function could be chosen by. */
function rebuildSubject(subject: unknown, walk: Walk, rebuild: Rebuild): unknown {
  const text = stringConstant(subject)
  if (text === undefined) return rebuild.node(subject, walk)
  return castAsText(textConstant(text))
}

/** AND and OR; the grammar has one on the left in the same brackets as what follows. */
export function rebuildLogic(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const rebuilt = rebuild.fields('BoolExpr', fields, walk)
  const [first, ...rest] = nodeList(rebuilt['args'])
  const inner = fieldsOf(first, 'BoolExpr')
  const isOne = inner['boolop'] === rebuilt['boolop'] && rest.length > 0
  return { BoolExpr: isOne ? { ...rebuilt, args: [...nodeList(inner['args']), ...rest] } : rebuilt }
}

/** Those of an array; of rows, nothing bounds them. */
function patternsOf(array: unknown, walk: Walk): readonly unknown[] {
  const text = stringConstant(array)
  const elements =
    text === undefined
      ? nodeList(fieldsOf(array, 'A_ArrayExpr')['elements'])
      : (patternsWithin(text) ?? []).map(textConstant)
  if (elements.length === 0 || elements.length > PATTERNS_MAX)
    throw sqlRefusal(walk, patternsProblem, patternsHint)
  return elements
}

/** The pattern of LIKE with one escape, whatever ESCAPE says; the grammar makes a call of that. */
function patternOf(operator: string, pattern: unknown, walk: Walk): string {
  const call = fieldsOf(pattern, 'FuncCall')
  const isEscaped = stringOf(nodeList(call['funcname']).at(-1)) === 'like_escape'
  const [written, given] = isEscaped ? nodeList(call['args']) : [pattern]
  const text = stringConstant(written)
  if (text === undefined || text.length > PATTERN_CHARACTERS_MAX) {
    throw sqlRefusal(
      walk,
      `a pattern must be a text of at most ${PATTERN_CHARACTERS_MAX} characters, written out`,
    )
  }
  const by = isEscaped ? stringConstant(given) : '\\'
  if (!isEscape(by)) throw sqlRefusal(walk, escapeProblem, escapeHint)
  if (!operator.includes('~~')) return text
  const plain = plainPattern(text, by)
  if (plain === undefined) throw errorAt(walk, 'sql_invalid', endlessPattern, escapeHint)
  return plain
}

/** Bytes joined with a text are text; with bytes, or a document, they stay what they are. */
function rebuildJoined(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const { lexpr, rexpr, ...rest } = fields
  const isTextual = [lexpr, rexpr].some(isPlainText)
  const [left, right] = [lexpr, rexpr].map((side) => {
    const rebuilt = rebuild.node(side, walk)
    return isTextual ? asText(rebuilt, walk) : rebuilt
  })
  const checked = rebuild.fields('A_Expr', rest, walk)
  // A constant takes the type of what it is joined with, by rules of PostgreSQL's own operator.
  const isUntyped = [left, right].some((side) => isFields(side) && 'A_Const' in side)
  const name = isTextual || isUntyped ? checked['name'] : ownName('||', walk)
  return { A_Expr: { ...checked, name, lexpr: left, rexpr: right } }
}

/** A constant that is no bytes, or an expression that can only be text. */
function isPlainText(expression: unknown): boolean {
  const text = stringConstant(expression)
  return text === undefined ? isText(expression) : !isHexConstant(text)
}

/** `'0x…'::text` keeps its characters, bytes become theirs; other casts are as they stand. */
export function rebuildCast(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const { arg, ...rest } = fields
  const bits = bitsOf(arg)
  if (bits !== undefined && wholeTypes.test(typeNameOf(fields)))
    return {
      TypeCast: { arg: rebuildBits(arg, bits, walk, rebuild), ...rebuild.fields('TypeCast', rest, walk) },
    }
  const text = stringConstant(arg)
  if (typeNameOf(fields) === 'bytea' && hexConstant(text ?? '').kind === 'empty') return bytesConstant('')
  if (!isTextType(fields['typeName'])) return { TypeCast: rebuild.fields('TypeCast', fields, walk) }
  const operand = text === undefined ? asText(rebuild.node(arg, walk), walk) : textConstant(text)
  return { TypeCast: { arg: operand, ...rebuild.fields('TypeCast', rest, walk) } }
}

const wholeTypes = /^int[48]$/

const typeNameOf = ({ typeName }: NodeFields): string =>
  stringOf(nodeList(bare(typeName)['names']).at(-1)) ?? ''

/** How many bits `x::bit(64)` or `x::bit(32)` gives; they are allowed on the way to a whole number. */
function bitsOf(arg: unknown): 32 | 64 | undefined {
  const cast = fieldsOf(arg, 'TypeCast')
  const count = integerConstant(nodeList(bare(cast['typeName'])['typmods'])[0])
  return typeNameOf(cast) === 'bit' && (count === 32 || count === 64) ? count : undefined
}

function rebuildBits(arg: unknown, count: number, walk: Walk, rebuild: Rebuild): unknown {
  const names = nameParts('pg_catalog', 'bit')
  const typeName = { names, typmods: [{ A_Const: { ival: { ival: count } } }], typemod: -1 }
  return { TypeCast: { arg: asText(rebuild.node(fieldsOf(arg, 'TypeCast')['arg'], walk), walk), typeName } }
}

/**
 * Modifiers allowed in a type: `numeric(78,0)`, `timestamp(3)`; PostgreSQL's own bounds for numeric
 * apply.
 */
const TYPE_MODIFIER_MAX = 65_536

export function rebuildTypeName(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const parts = nodeList(fields['names']).map(stringOf)
  const name = parts.at(-1) ?? ''
  if (parts.length > 2 || (parts.length === 2 && parts[0] !== 'pg_catalog') || !castTypes.has(name)) {
    throw sqlRefusal(walk, `the type ${name} is not allowed`, typeHint(name))
  }
  for (const modifier of nodeList(fields['typmods'])) {
    const value = integerConstant(modifier)
    if (value === undefined || Math.abs(value) > TYPE_MODIFIER_MAX)
      throw sqlRefusal(walk, 'this type is not allowed')
  }
  return { TypeName: rebuild.fields('TypeName', fields, walk) }
}

export function rebuildSubLink(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const names = nodeList(fields['operName']).map(stringOf)
  if (names.length > 1 || (names.length === 1 && !operators.has(names[0] ?? ''))) {
    throw sqlRefusal(walk, `the operator ${names.join('.')} is not allowed`)
  }
  if (patternOperators.has(names[0] ?? '')) throw sqlRefusal(walk, patternsProblem, patternsHint)
  if (unwrap(fields['subselect'], walk)?.type !== 'SelectStmt')
    throw sqlRefusal(walk, 'a sub-query must be a SELECT')
  if (fields['subLinkType'] !== 'ARRAY_SUBLINK') return { SubLink: rebuild.fields('SubLink', fields, walk) }
  const checked = rebuild.fields('SubLink', fields, enterCollector('ARRAY', walk))
  return { SubLink: { ...checked, subselect: countedSelect(checked['subselect'], walk) } }
}
