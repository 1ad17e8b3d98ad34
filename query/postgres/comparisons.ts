/**
 * Comparisons of bytes with a constant that no value can be equal to. Bytes are a column of the
 * catalog, the same through a sub-select or CTE, and what chooses among such columns.
 */

import { type ConstantProblem, textBesideBytes, unequalWidths } from '../text.ts'
import { findSource, type Scope, sourceOf } from './scopes.ts'
import {
  bare,
  errorAt,
  type Fields,
  fieldsOf,
  isFields,
  list,
  stringConstant,
  stringOf,
  type Walk,
} from './walk.ts'

/** @throws UserQueryError `sql_invalid` */
export function assertComparison(expression: Fields, scope: Scope, walk: Walk): void {
  const kind = String(expression['kind'])
  const operator = stringOf(list(expression['name'])[0]) ?? ''
  if (!kinds.test(kind) || !operators.has(operator)) return
  for (const compared of comparedWithin(expression)) assertOperands(compared, operator, scope, walk)
}

/** What is compared with each other; rows field by field. */
function comparedWithin({ lexpr, rexpr }: Fields): readonly (readonly unknown[])[] {
  const items = itemsOf(rexpr)
  const fields = rowFields(lexpr)
  if (!fields) return [[lexpr, ...items]]
  return items.flatMap((item) => fields.map((field, index) => [field, rowFields(item)?.[index]]))
}

function rowFields(operand: unknown): readonly unknown[] | undefined {
  const row = isFields(operand) ? operand['RowExpr'] : undefined
  return isFields(row) ? list(row['args']) : undefined
}

function assertOperands(operands: readonly unknown[], operator: string, scope: Scope, walk: Walk): void {
  for (const column of operands) {
    const found = bytesOf(column, scope)
    if (!found) continue
    for (const constant of operands) {
      const problem = problemOf(constant, equalities.has(operator) ? found.width : undefined)
      const at = walk.findings.places.get(found.reference) ?? -1
      if (problem) throw errorAt({ ...walk, at }, 'sql_invalid', problem.problem, problem.hint)
    }
  }
}

const kinds = /^AEXPR_(OP|IN|(NOT_)?DISTINCT|(NOT_)?BETWEEN)$/
const equalities: ReadonlySet<string> = new Set(['=', '<>'])
const operators: ReadonlySet<string> = new Set([
  ...equalities,
  '<',
  '>',
  '<=',
  '>=',
  'BETWEEN',
  'NOT BETWEEN',
])

const itemsOf = (operand: unknown): readonly unknown[] =>
  isFields(operand) && isFields(operand['List']) ? list(operand['List']['items']) : [operand]

/** Bytes that an expression can be. */
interface Bytes {
  /** Of every value; undefined where they differ or none is known. */
  readonly width: number | undefined
  /** The column that says so. */
  readonly reference: unknown
}

/** Undefined for what is no bytes, or may be something else. */
export function bytesOf(operand: unknown, scope: Scope): Bytes | undefined {
  const choices = choicesOf(operand)
  if (!choices) return bytesColumn(operand, scope)
  const found = choices.flatMap((choice) => bytesOf(choice, scope) ?? bytesConstant(choice) ?? [])
  const [first] = found.filter(({ reference }) => reference !== undefined)
  if (!first || found.length < choices.length) return undefined
  return found.every(({ width }) => width === first.width) ? first : { ...first, width: undefined }
}

/** What an expression gives one of, as it is; undefined for another expression. */
function choicesOf(operand: unknown): readonly unknown[] | undefined {
  const [[type, found] = ['', {}]] = Object.entries(bare(operand))
  const { args, kind, lexpr, funcname, defresult } = bare(found)
  switch (type) {
    case 'CoalesceExpr':
    case 'MinMaxExpr':
      return list(args).filter(isGiven)
    case 'CaseExpr':
      return [...list(args).map((arm) => fieldsOf(arm, 'CaseWhen')['result']), defresult].filter(isGiven)
    case 'A_Expr':
      return kind === 'AEXPR_NULLIF' ? [lexpr] : undefined
    case 'FuncCall':
      return extremes.has(stringOf(list(funcname).at(-1)) ?? '') ? list(args) : undefined
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

function bytesColumn(operand: unknown, scope: Scope): Bytes | undefined {
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
  return isFields(reference) ? list(reference['fields']).map(stringOf) : undefined
}
