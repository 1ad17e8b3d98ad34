/**
 * Comparisons of bytes with what no value of them can be equal to. Bytes are a column of the
 * catalog, the same through a sub-select or CTE, and what chooses among such columns.
 */

import { type ConstantProblem, textBesideBytes, unequalValues, unequalWidths } from '../../text.ts'
import { beginOf } from '../parse/places.ts'
import {
  bare,
  errorAt,
  fieldsOf,
  isFields,
  type NodeFields,
  nodeList,
  stringConstant,
  stringOf,
  type Walk,
} from '../parse/walk.ts'
import { shifts } from './expressions/functions.ts'
import { findSource, type SelectScope, sourceOf } from './scopes.ts'

/** The scope of a name's look-up, and the outputs of sub-selects. */
export interface Operands {
  readonly scope: SelectScope
  /** Bytes of each output of a sub-select that was read before. */
  readonly outputsOf: (select: unknown) => readonly (Bytes | undefined)[]
}

/** @throws UserQueryError `sql_invalid` */
export function assertComparison(expression: NodeFields, operands: Operands, walk: Walk): void {
  const kind = String(expression['kind'])
  const operator = stringOf(nodeList(expression['name'])[0]) ?? ''
  if (!kinds.test(kind) || !operators.has(operator)) return
  for (const compared of comparedWithin(expression))
    assertOperands(compared, equalities.has(operator), operands, walk)
}

/** `CASE x WHEN …`. @throws UserQueryError `sql_invalid` */
export function assertCase({ arg, args }: NodeFields, operands: Operands, walk: Walk): void {
  const whens = nodeList(args).map((arm) => fieldsOf(arm, 'CaseWhen')['expr'])
  if (arg !== undefined) assertOperands([arg, ...whens], true, operands, walk)
}

/**
 * Checks the choices of which an expression gives one. @throws UserQueryError `sql_invalid` for a text
 * among bytes
 */
export function assertChoices(type: string, fields: NodeFields, operands: Operands, walk: Walk): void {
  const name = stringOf(nodeList(fields['funcname']).at(-1)) ?? ''
  const [value, , otherwise] = nodeList(fields['args'])
  const choices =
    type === 'A_ArrayExpr'
      ? nodeList(fields['elements'])
      : type === 'FuncCall' && shifts.has(name)
        ? [value, otherwise]
        : choicesOf({ [type]: fields })
  if (choices && choices.length > 1) assertOperands(choices, false, operands, walk)
}

/** `x IN (SELECT …)`. @throws UserQueryError `sql_invalid` */
export function assertMembers(
  { testexpr, subselect, operName }: NodeFields,
  operands: Operands,
  walk: Walk,
): void {
  // IN has no operator.
  if (operName !== undefined && !equalities.has(stringOf(nodeList(operName)[0]) ?? '')) return
  const outputs = operands.outputsOf(subselect)
  const fields = rowFields(testexpr) ?? [testexpr]
  for (const [index, field] of fields.entries())
    assertAlike([bytesOperand(field, operands), outputs[index]], walk)
}

/**
 * Postgres would read a text in a column of bytes as such, letter by letter.
 * @throws UserQueryError `sql_invalid` for one that a SELECT puts where the other side has bytes
 */
export function assertNoText(select: unknown, others: readonly (Bytes | undefined)[], walk: Walk): void {
  for (const [index, target] of nodeList(bare(select)['targetList']).entries()) {
    const problem = others[index] && problemOf(fieldsOf(target, 'ResTarget')['val'], undefined)
    if (problem) throw errorAt({ ...walk, at: beginOf(target) }, 'sql_invalid', problem.problem, problem.hint)
  }
}

/** @throws UserQueryError `sql_invalid` for bytes of which no two have one length */
export function assertAlike(compared: readonly (Bytes | undefined)[], walk: Walk, at = -1): void {
  const known = compared.flatMap((bytes) =>
    bytes?.width === undefined ? [] : [{ ...bytes, width: bytes.width }],
  )
  const [first] = known
  const other = known.find(({ width }) => width !== first?.width)
  if (!first || !other) return
  const { problem, hint } = unequalValues(first.width, other.width)
  const place = walk.findings.places.get(first.reference ?? other.reference) ?? at
  throw errorAt({ ...walk, at: place }, 'sql_invalid', problem, hint)
}

/** Pairs that are compared with each other; rows field by field. */
function comparedWithin({ lexpr, rexpr }: NodeFields): readonly (readonly unknown[])[] {
  const items = itemsOf(rexpr)
  const fields = rowFields(lexpr)
  if (!fields) return [[lexpr, ...items]]
  return items.flatMap((item) => fields.map((field, index) => [field, rowFields(item)?.[index]]))
}

function rowFields(operand: unknown): readonly unknown[] | undefined {
  const row = isFields(operand) ? operand['RowExpr'] : undefined
  return isFields(row) ? nodeList(row['args']) : undefined
}

function assertOperands(
  compared: readonly unknown[],
  isEquality: boolean,
  operands: Operands,
  walk: Walk,
): void {
  const all = compared.map((operand) => bytesOperand(operand, operands))
  for (const found of all) {
    if (!found) continue
    for (const constant of compared) {
      const problem = problemOf(constant, isEquality ? found.width : undefined)
      const at = walk.findings.places.get(found.reference) ?? -1
      if (problem) throw errorAt({ ...walk, at }, 'sql_invalid', problem.problem, problem.hint)
    }
  }
  if (isEquality) assertAlike(all, walk)
}

const kinds = /^AEXPR_(OP(_ANY|_ALL)?|IN|NULLIF|(NOT_)?DISTINCT|(NOT_)?BETWEEN(_SYM)?)$/
const equalities: ReadonlySet<string> = new Set(['=', '<>'])
const operators: ReadonlySet<string> = new Set([
  ...equalities,
  '<',
  '>',
  '<=',
  '>=',
  'BETWEEN',
  'NOT BETWEEN',
  'BETWEEN SYMMETRIC',
  'NOT BETWEEN SYMMETRIC',
])

function itemsOf(operand: unknown): readonly unknown[] {
  const [[type, found] = ['', {}]] = Object.entries(bare(operand))
  if (type === 'List') return nodeList(bare(found)['items'])
  return type === 'A_ArrayExpr' ? nodeList(bare(found)['elements']) : [operand]
}

/** Bytes that an expression can be. */
export interface Bytes {
  /** Bytes of every value; undefined where they differ or none is known. */
  readonly width: number | undefined
  /** The column that says so; undefined where a constant does. */
  readonly reference: unknown
}

/** Undefined for what is no bytes, may be something else, or is a constant alone. */
function bytesOperand(operand: unknown, operands: Operands): Bytes | undefined {
  const select = scalarSelect(operand)
  if (select) return operands.outputsOf(select)[0]
  const choices = choicesOf(operand)
  return choices ? bytesAmong(choices, operands) : bytesColumn(operand, operands.scope)
}

/** The same of an output: a constant is bytes there, whatever it is compared with later. */
export function bytesOfOutput(value: unknown, operands: Operands): Bytes | undefined {
  return bytesOperand(value, operands) ?? bytesConstant(value)
}

/** Bytes of a value that is one of these; undefined where one of them is no bytes. */
export function bytesAmong(choices: readonly unknown[], operands: Operands): Bytes | undefined {
  const found = choices.flatMap((choice) => bytesOfOutput(choice, operands) ?? [])
  const first = found.find(({ reference }) => reference !== undefined) ?? found[0]
  if (!first || found.length < choices.length) return undefined
  return found.every(({ width }) => width === first.width) ? first : { ...first, width: undefined }
}

function scalarSelect(operand: unknown): unknown {
  const link = fieldsOf(operand, 'SubLink')
  return link['subLinkType'] === 'EXPR_SUBLINK' ? link['subselect'] : undefined
}

/** The choices of which an expression gives one, as they are; undefined for another expression. */
function choicesOf(operand: unknown): readonly unknown[] | undefined {
  const [[type, found] = ['', {}]] = Object.entries(bare(operand))
  const { args, kind, lexpr, funcname, defresult } = bare(found)
  switch (type) {
    case 'CoalesceExpr':
    case 'MinMaxExpr':
      return nodeList(args).filter(isGiven)
    case 'CaseExpr':
      return [...nodeList(args).map((arm) => fieldsOf(arm, 'CaseWhen')['result']), defresult].filter(isGiven)
    case 'A_Expr':
      return kind === 'AEXPR_NULLIF' ? [lexpr] : undefined
    case 'FuncCall':
      return extremes.has(stringOf(nodeList(funcname).at(-1)) ?? '') ? nodeList(args) : undefined
    default:
      return undefined
  }
}

const extremes: ReadonlySet<string> = new Set(['min', 'max'])

/** NULL and an ELSE that is not written are no bytes of another width. */
function isGiven(choice: unknown): boolean {
  return choice !== undefined && fieldsOf(choice, 'A_Const')['isnull'] !== true
}

function bytesConstant(choice: unknown): Bytes | undefined {
  const hex = hexOf(choice)
  return hex === undefined ? undefined : { width: hex.length / 2, reference: undefined }
}

function bytesColumn(operand: unknown, scope: SelectScope): Bytes | undefined {
  const path = columnPath(operand)
  const name = path?.at(-1)
  if (!path || name === undefined) return undefined
  const [qualifier] = path
  const source =
    path.length > 1 && qualifier !== undefined ? findSource(qualifier, scope) : sourceOf(name, scope)
  if (!source?.bytes?.has(name)) return undefined
  return { width: source.bytes.get(name), reference: bare(operand)['ColumnRef'] }
}

function problemOf(constant: unknown, width: number | undefined): ConstantProblem | undefined {
  const text = stringConstant(constant)
  // Nothing between the quotes is no bytes, on both engines.
  if (text !== undefined) return text === '' ? undefined : textBesideBytes(text)
  const hex = hexOf(constant)
  return hex === undefined || width === undefined ? undefined : unequalWidths(hex.length / 2, width, hex)
}

/** The digits of a '0x…' as columns.ts writes it. */
function hexOf(constant: unknown): string | undefined {
  const cast = isFields(constant) ? constant['TypeCast'] : undefined
  const text = isFields(cast) ? stringConstant(cast['arg']) : undefined
  return text?.startsWith('\\x') ? text.slice(2) : undefined
}

/** The parts of a column reference, undefined for `*`; undefined for another expression. */
export function columnPath(value: unknown): readonly (string | undefined)[] | undefined {
  const reference = isFields(value) ? value['ColumnRef'] : undefined
  return isFields(reference) ? nodeList(reference['fields']).map(stringOf) : undefined
}
