/**
 * Names of a result's columns as the query writes them: engines lower a name that is not quoted, or
 * give it as it is declared.
 */

/** An item of the outermost select list: its name as written, or what stands for several columns. */
export type Label = string | undefined | typeof several
export const several = Symbol('several columns')

/** @param labels of the items; those around a `*` are counted from the ends */
export function labelled(names: readonly string[], labels: readonly Label[]): readonly string[] {
  const first = labels.indexOf(several)
  const last = labels.lastIndexOf(several)
  return names.map((name, index) => {
    const fromEnd = index - names.length + labels.length
    const label = first < 0 || index < first ? labels[index] : fromEnd > last ? labels[fromEnd] : undefined
    return typeof label === 'string' && label.toLowerCase() === name.toLowerCase() ? label : name
  })
}
