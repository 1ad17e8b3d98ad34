/** The tree of the SELECT subset. `at` is the UTF-16 offset where a node begins. */

export interface Name {
  readonly text: string
  readonly at: number
}

export type Expression =
  | { readonly kind: 'number'; readonly text: string; readonly at: number }
  | { readonly kind: 'string'; readonly value: string; readonly at: number }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly at: number }
  | { readonly kind: 'null'; readonly at: number }
  /** `column` or `source.column`. */
  | { readonly kind: 'column'; readonly path: readonly Name[]; readonly at: number }
  | CallExpression
  | {
      readonly kind: 'lambda'
      readonly parameters: readonly Name[]
      readonly body: Expression
      readonly at: number
    }
  | {
      readonly kind: 'logic'
      readonly word: 'AND' | 'OR'
      readonly operands: readonly Expression[]
      readonly at: number
    }
  | { readonly kind: 'unary'; readonly word: 'NOT' | '-'; readonly operand: Expression; readonly at: number }
  | BinaryExpression
  | BetweenExpression
  | InListExpression
  | InQueryExpression
  | QuantifiedExpression
  | { readonly kind: 'isNull'; readonly operand: Expression; readonly isNot: boolean; readonly at: number }
  | { readonly kind: 'query'; readonly query: Query; readonly isExists: boolean; readonly at: number }
  | CaseExpression
  | { readonly kind: 'cast'; readonly operand: Expression; readonly type: TypeName; readonly at: number }
  | { readonly kind: 'array'; readonly items: readonly Expression[]; readonly at: number }
  | { readonly kind: 'tuple'; readonly items: readonly Expression[]; readonly at: number }
  | {
      readonly kind: 'element'
      readonly operand: Expression
      readonly index: Expression
      readonly at: number
    }
  | { readonly kind: 'field'; readonly operand: Expression; readonly index: number; readonly at: number }
  | { readonly kind: 'interval'; readonly amount: Expression; readonly unit: string; readonly at: number }
  | { readonly kind: 'extract'; readonly unit: string; readonly operand: Expression; readonly at: number }

export interface CallExpression {
  readonly kind: 'call'
  readonly name: string
  /** Parameters of a parametric aggregate: `quantile(0.9)(x)`. */
  readonly parameters: readonly Expression[] | undefined
  readonly args: readonly Expression[]
  /** `count(*)`. */
  readonly isStar: boolean
  readonly isDistinct: boolean
  /** `ORDER BY` of an aggregate's values, within its brackets or behind WITHIN GROUP. */
  readonly orderBy: readonly OrderItem[]
  readonly isWithinGroup: boolean
  readonly filter: Expression | undefined
  readonly over: Window | Name | undefined
  readonly at: number
}

/** A plain call. */
export const callExpression = (name: string, args: readonly Expression[], at = 0): CallExpression => ({
  kind: 'call',
  name,
  parameters: undefined,
  args,
  isStar: false,
  isDistinct: false,
  orderBy: [],
  isWithinGroup: false,
  filter: undefined,
  over: undefined,
  at,
})

export interface BinaryExpression {
  readonly kind: 'binary'
  readonly operator: string
  readonly left: Expression
  readonly right: Expression
  readonly at: number
}

export interface BetweenExpression {
  readonly kind: 'between'
  readonly operand: Expression
  readonly low: Expression
  readonly high: Expression
  readonly isNot: boolean
  /** `SYMMETRIC`: the bounds stand in either order. */
  readonly isSymmetric: boolean
  readonly at: number
}

export interface InListExpression {
  readonly kind: 'inList'
  readonly operand: Expression
  readonly items: readonly Expression[]
  readonly isNot: boolean
  readonly at: number
}

export interface InQueryExpression {
  readonly kind: 'inQuery'
  readonly operand: Expression
  readonly query: Query
  readonly isNot: boolean
  readonly at: number
}

/** `x < ANY (…)`, `x < ALL (…)`: over an array or a sub-select. */
export interface QuantifiedExpression {
  readonly kind: 'quantified'
  readonly operator: string
  readonly isAll: boolean
  readonly operand: Expression
  readonly values: Expression
  readonly at: number
}

export interface CaseExpression {
  readonly kind: 'case'
  readonly subject: Expression | undefined
  readonly branches: readonly { readonly when: Expression; readonly result: Expression }[]
  readonly otherwise: Expression | undefined
  readonly at: number
}

export interface TypeName {
  readonly name: string
  readonly args: readonly (number | string | TypeName)[]
  readonly at: number
}

export interface OrderItem {
  readonly expression: Expression
  readonly isDescending: boolean
  readonly nulls: 'FIRST' | 'LAST' | undefined
  readonly fill?: Fill
}

/** `WITH FILL`: rows for the values that are missing. */
export interface Fill {
  readonly from: Expression | undefined
  readonly to: Expression | undefined
  readonly step: Expression | undefined
  readonly at: number
}

/** `INTERPOLATE (name AS expression)`: what made rows have of the row before; alone, that row's value. */
export interface Interpolated {
  readonly name: Name
  readonly expression: Expression | undefined
}

export interface Window {
  readonly base: Name | undefined
  readonly partitionBy: readonly Expression[]
  readonly orderBy: readonly OrderItem[]
  readonly frame: WindowFrame | undefined
}

export interface WindowFrame {
  readonly unit: 'ROWS' | 'RANGE'
  readonly start: string
  readonly end: string
}

export interface Query {
  readonly ctes: readonly Cte[]
  readonly body: SetExpression
  readonly orderBy: readonly OrderItem[]
  /** Empty: all columns that are not filled themselves; absent, none. */
  readonly interpolated?: readonly Interpolated[]
  readonly limitBy: LimitBy | undefined
  readonly limit: number | undefined
  readonly offset: number | undefined
  readonly at: number
}

export interface LimitBy {
  readonly count: number
  readonly offset: number
  readonly by: readonly Expression[]
}

export interface Cte {
  readonly name: Name
  readonly columns: readonly Name[] | undefined
  readonly query: Query
}

export type SetExpression =
  | Select
  | {
      readonly kind: 'set'
      readonly operator: 'UNION' | 'INTERSECT' | 'EXCEPT'
      readonly isAll: boolean
      readonly left: SetExpression
      readonly right: SetExpression
      readonly at: number
    }
  /** A query in parentheses. */
  | { readonly kind: 'nested'; readonly query: Query; readonly at: number }

export interface Select {
  readonly kind: 'select'
  readonly isDistinct: boolean
  readonly distinctOn: readonly Expression[]
  readonly items: readonly SelectItem[]
  readonly from: FromItem | undefined
  readonly joins: readonly Join[]
  readonly where: Expression | undefined
  readonly groupBy: GroupBy | undefined
  readonly having: Expression | undefined
  readonly qualify: Expression | undefined
  readonly windows: readonly { readonly name: Name; readonly window: Window }[]
  readonly at: number
}

export type SelectItem =
  | { readonly kind: 'star'; readonly of: Name | undefined; readonly at: number }
  | {
      readonly kind: 'item'
      readonly expression: Expression
      readonly alias: Name | undefined
      readonly at: number
    }

export type FromItem =
  | {
      readonly kind: 'relation'
      readonly name: Name
      readonly alias: Name | undefined
      readonly columns: readonly Name[]
      readonly at: number
    }
  | {
      readonly kind: 'query'
      readonly query: Query
      readonly alias: Name | undefined
      /** Names of the first columns: `AS t(a, b)`. */
      readonly columns: readonly Name[]
      readonly at: number
    }
  /** `generate_series(from, to, step)`, and `numbers(count)`. */
  | {
      readonly kind: 'series'
      readonly name: 'generate_series' | 'numbers'
      /** From, to and step. */
      readonly bounds: readonly Expression[]
      readonly alias: Name | undefined
      readonly columns: readonly Name[]
      readonly at: number
    }

export type Join =
  | {
      readonly kind: 'join'
      readonly side: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS'
      readonly strictness: 'ANY' | 'ASOF' | 'SEMI' | 'ANTI' | undefined
      readonly source: FromItem
      readonly on: Expression | undefined
      readonly using: readonly Name[] | undefined
    }
  | {
      readonly kind: 'arrayJoin'
      readonly isLeft: boolean
      readonly items: readonly { readonly expression: Expression; readonly alias: Name }[]
    }

export interface GroupBy {
  readonly modifier: 'ROLLUP' | 'CUBE' | undefined
  /** One list, or several for GROUPING SETS. */
  readonly sets: readonly (readonly Expression[])[]
  readonly isGroupingSets: boolean
}
