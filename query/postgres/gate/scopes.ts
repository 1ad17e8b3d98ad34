/**
 * Names of tables as Postgres looks them up. `a.b` is a column of what `a` names; where that has no
 * column `b`, Postgres calls the function `b` with the row of `a` instead, so a name that is not
 * found here must be refused.
 */

/** Something in FROM that `name.column` can speak of. */
export interface GateSource {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns of a table of the catalog that are bytes, and how many every value has. */
  readonly bytes?: ReadonlyMap<string, number | undefined>
}

/** The sources of one SELECT that can be seen from a place in it. */
export type ScopeLevel = readonly GateSource[]

export interface SelectScope {
  /** From the SELECT itself outwards. */
  readonly levels: readonly ScopeLevel[]
  /** Columns of the CTEs in scope, by name. */
  readonly ctes: ReadonlyMap<string, readonly string[]>
}

export const outermost: SelectScope = { levels: [], ctes: new Map() }

export const within = (level: ScopeLevel, { levels, ctes }: SelectScope): SelectScope => ({
  levels: [level, ...levels],
  ctes,
})

/** The nearest source of the name. Two on one level are an error to Postgres, so there is none. */
export function findSource(name: string, { levels }: SelectScope): GateSource | undefined {
  for (const level of levels) {
    const [found, ...others] = level.filter((source) => source.name === name)
    if (found) return others.length === 0 ? found : undefined
  }
  return undefined
}

/** The source whose column a bare name is, where one alone has it. */
export function sourceOf(column: string, { levels }: SelectScope): GateSource | undefined {
  for (const level of levels) {
    const [found, ...others] = level.filter((source) => source.columns.includes(column))
    if (found) return others.length === 0 ? found : undefined
  }
  return undefined
}

/** Names in front of the columns are given by `AS name (columns)`; the others keep theirs. */
export const renamed = (columns: readonly string[], names: readonly string[]): readonly string[] => [
  ...names,
  ...columns.slice(names.length),
]

/** Columns of a join that has none in common, or those of USING and NATURAL first. */
export function joinedColumns(
  left: readonly string[],
  right: readonly string[],
  merged: readonly string[],
): readonly string[] {
  const rest = (columns: readonly string[]) => columns.filter((name) => !merged.includes(name))
  return [...merged, ...rest(left), ...rest(right)]
}
