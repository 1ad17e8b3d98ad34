/**
 * Comparisons of a column of bytes with a constant that no value can be equal to: a column of the
 * catalog, or of a sub-select or CTE that has it as it is.
 */

import { type ConstantProblem, textBesideBytes, unequalWidths } from '../text.ts'
import { findSource, type Scope, sourceOf } from './scopes.ts'
import { errorAt, type Fields, isFields, list, stringConstant, stringOf, type Walk } from './walk.ts'

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
    const found = bytesColumn(column, scope)
    if (!found) continue
    for (const constant of operands) {
      const problem = problemOf(constant, equalities.has(operator) ? found.width : undefined)
      const reference = isFields(column) ? column['ColumnRef'] : undefined
      const at = walk.findings.places.get(reference) ?? -1
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

/** How many bytes every value of a column has; undefined for another expression. */
export function bytesColumn(
  operand: unknown,
  scope: Scope,
): { readonly width: number | undefined } | undefined {
  const path = columnPath(operand)
  const name = path?.at(-1)
  if (!path || name === undefined) return undefined
  const [qualifier] = path
  const source =
    path.length > 1 && qualifier !== undefined ? findSource(qualifier, scope) : sourceOf(name, scope)
  return source?.bytes?.has(name) ? { width: source.bytes.get(name) } : undefined
}

function problemOf(constant: unknown, width: number | undefined): ConstantProblem | undefined {
  const text = stringConstant(constant)
  // Nothing between the quotes is no bytes, on both engines.
  if (text !== undefined) return text === '' ? undefined : textBesideBytes(text)
  const hex = bytesOf(constant)
  return hex === undefined || width === undefined ? undefined : unequalWidths(hex.length / 2, width, hex)
}

/** The digits of a '0x…' as columns.ts writes it. */
function bytesOf(constant: unknown): string | undefined {
  const cast = isFields(constant) ? constant['TypeCast'] : undefined
  const text = isFields(cast) ? stringConstant(cast['arg']) : undefined
  return text?.startsWith('\\x') ? text.slice(2) : undefined
}

/** The parts of a column reference, undefined for `*`; undefined for another expression. */
export function columnPath(value: unknown): readonly (string | undefined)[] | undefined {
  const reference = isFields(value) ? value['ColumnRef'] : undefined
  return isFields(reference) ? list(reference['fields']).map(stringOf) : undefined
}
