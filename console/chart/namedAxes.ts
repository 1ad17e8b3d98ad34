/** The columns of a chart by their names, as a link holds them. */
import type { LinkFields } from '../model/link.ts'
import type { QueryAnswer } from '../model/queryAnswer.ts'
import { type Axes, nameColumns, valueColumns } from './axes.ts'

/** Names of columns that go up are joined by line breaks. */
export const axesFields = ({ x, ys, by }: Axes, { columns }: Pick<QueryAnswer, 'columns'>): LinkFields => ({
  x: columns[x] ?? '',
  y: ys.map((column) => columns[column] ?? '').join('\n'),
  ...(by !== null && { by: columns[by] ?? '' }),
})

/** The fields of a link that name columns of a chart. */
export const pickAxes = (fields: LinkFields): LinkFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => ['x', 'y', 'by'].includes(name)))

/** Null where the result has no such columns, or the link names none. */
export function axesOfFields(
  { x, y = '', by }: LinkFields,
  answer: Pick<QueryAnswer, 'columns' | 'columnTypes'>,
): Axes | null {
  const { columns } = answer
  const across = x === undefined ? -1 : columns.indexOf(x)
  const ups = new Set(y.split('\n'))
  const ys = valueColumns(answer).filter((column) => ups.has(columns[column] ?? ''))
  if (across < 0 || ys.length === 0) return null
  return { x: across, ys, by: nameColumns(answer).find((column) => columns[column] === by) ?? null }
}
