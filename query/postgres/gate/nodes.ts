/**
 * Every node of the Postgres grammar a user query may hold, and every field of it. A node or a set
 * field that is not here is refused, so a grammar newer than this list can add nothing. Names are
 * those of PostgreSQL 18's parsenodes.h as libpg-query prints them. Note the traps: some fields
 * hold a node without its `{Type: …}` wrapper (`bare`), and fields with default values are absent.
 */

export type FieldRule =
  /** A wrapped node. */
  | { readonly kind: 'node' }
  /** A list of wrapped nodes; `{}` entries stand for an absent node. */
  | { readonly kind: 'nodes' }
  /** A node of the named type without its wrapper. */
  | { readonly kind: 'bare'; readonly type: string }
  | { readonly kind: 'text' }
  | { readonly kind: 'number' }
  | { readonly kind: 'flag' }
  /** One of these words; others are refused. */
  | { readonly kind: 'word'; readonly words: readonly string[] }
  /** A place in the text: recognized and dropped. */
  | { readonly kind: 'place' }

const node: FieldRule = { kind: 'node' }
const nodes: FieldRule = { kind: 'nodes' }
const text: FieldRule = { kind: 'text' }
const number: FieldRule = { kind: 'number' }
const flag: FieldRule = { kind: 'flag' }
const place: FieldRule = { kind: 'place' }
const bare = (type: string): FieldRule => ({ kind: 'bare', type })
const word = (...words: string[]): FieldRule => ({ kind: 'word', words })

type Rules = Readonly<Record<string, FieldRule>>

const statements: Readonly<Record<string, Rules>> = {
  SelectStmt: {
    distinctClause: nodes,
    targetList: nodes,
    fromClause: nodes,
    whereClause: node,
    groupClause: nodes,
    groupDistinct: flag,
    havingClause: node,
    windowClause: nodes,
    valuesLists: nodes,
    sortClause: nodes,
    limitOffset: node,
    limitCount: node,
    limitOption: word('LIMIT_OPTION_DEFAULT', 'LIMIT_OPTION_COUNT'),
    withClause: bare('WithClause'),
    op: word('SETOP_NONE', 'SETOP_UNION', 'SETOP_INTERSECT', 'SETOP_EXCEPT'),
    all: flag,
    larg: bare('SelectStmt'),
    rarg: bare('SelectStmt'),
  },
  WithClause: { ctes: nodes, location: place },
  CommonTableExpr: {
    ctename: text,
    aliascolnames: nodes,
    ctematerialized: word('CTEMaterializeDefault', 'CTEMaterializeAlways', 'CTEMaterializeNever'),
    ctequery: node,
    location: place,
  },
  ResTarget: { name: text, val: node, location: place },
  SortBy: {
    node,
    sortby_dir: word('SORTBY_DEFAULT', 'SORTBY_ASC', 'SORTBY_DESC'),
    sortby_nulls: word('SORTBY_NULLS_DEFAULT', 'SORTBY_NULLS_FIRST', 'SORTBY_NULLS_LAST'),
    location: place,
  },
  GroupingSet: {
    kind: word(
      'GROUPING_SET_EMPTY',
      'GROUPING_SET_SIMPLE',
      'GROUPING_SET_ROLLUP',
      'GROUPING_SET_CUBE',
      'GROUPING_SET_SETS',
    ),
    content: nodes,
    location: place,
  },
  WindowDef: {
    name: text,
    refname: text,
    partitionClause: nodes,
    orderClause: nodes,
    frameOptions: number,
    startOffset: node,
    endOffset: node,
    location: place,
  },
}

const sources: Readonly<Record<string, Rules>> = {
  RangeVar: {
    relname: text,
    inh: flag,
    relpersistence: word('p'),
    alias: bare('Alias'),
    location: place,
  },
  Alias: { aliasname: text, colnames: nodes },
  RangeSubselect: { lateral: flag, subquery: node, alias: bare('Alias') },
  RangeFunction: {
    lateral: flag,
    ordinality: flag,
    functions: nodes,
    alias: bare('Alias'),
  },
  JoinExpr: {
    jointype: word('JOIN_INNER', 'JOIN_LEFT', 'JOIN_FULL', 'JOIN_RIGHT'),
    isNatural: flag,
    larg: node,
    rarg: node,
    usingClause: nodes,
    quals: node,
    alias: bare('Alias'),
  },
}

const expressions: Readonly<Record<string, Rules>> = {
  ColumnRef: { fields: nodes, location: place },
  A_Star: {},
  A_Const: {
    ival: bare('Integer'),
    fval: bare('Float'),
    sval: bare('String'),
    boolval: bare('Boolean'),
    isnull: flag,
    location: place,
  },
  Integer: { ival: number },
  Float: { fval: text },
  Boolean: { boolval: flag },
  String: { sval: text },
  A_Expr: {
    kind: word(
      'AEXPR_OP',
      'AEXPR_OP_ANY',
      'AEXPR_OP_ALL',
      'AEXPR_DISTINCT',
      'AEXPR_NOT_DISTINCT',
      'AEXPR_NULLIF',
      'AEXPR_IN',
      'AEXPR_LIKE',
      'AEXPR_ILIKE',
      'AEXPR_BETWEEN',
      'AEXPR_NOT_BETWEEN',
      'AEXPR_BETWEEN_SYM',
      'AEXPR_NOT_BETWEEN_SYM',
    ),
    name: nodes,
    lexpr: node,
    rexpr: node,
    rexpr_list_start: place,
    rexpr_list_end: place,
    location: place,
  },
  BoolExpr: { boolop: word('AND_EXPR', 'OR_EXPR', 'NOT_EXPR'), args: nodes, location: place },
  NullTest: { arg: node, nulltesttype: word('IS_NULL', 'IS_NOT_NULL'), location: place },
  BooleanTest: {
    arg: node,
    booltesttype: word('IS_TRUE', 'IS_NOT_TRUE', 'IS_FALSE', 'IS_NOT_FALSE', 'IS_UNKNOWN', 'IS_NOT_UNKNOWN'),
    location: place,
  },
  CaseExpr: { arg: node, args: nodes, defresult: node, location: place },
  CaseWhen: { expr: node, result: node, location: place },
  CoalesceExpr: { args: nodes, location: place },
  MinMaxExpr: { op: word('IS_GREATEST', 'IS_LEAST'), args: nodes, location: place },
  TypeCast: { arg: node, typeName: bare('TypeName'), location: place },
  TypeName: { names: nodes, typmods: nodes, typemod: number, arrayBounds: nodes, location: place },
  FuncCall: {
    funcname: nodes,
    args: nodes,
    agg_order: nodes,
    agg_filter: node,
    over: bare('WindowDef'),
    agg_within_group: flag,
    agg_star: flag,
    agg_distinct: flag,
    funcformat: word('COERCE_EXPLICIT_CALL', 'COERCE_SQL_SYNTAX'),
    location: place,
  },
  SubLink: {
    subLinkType: word('EXISTS_SUBLINK', 'ALL_SUBLINK', 'ANY_SUBLINK', 'EXPR_SUBLINK', 'ARRAY_SUBLINK'),
    testexpr: node,
    operName: nodes,
    subselect: node,
    location: place,
  },
  List: { items: nodes },
  RowExpr: {
    args: nodes,
    row_format: word('COERCE_EXPLICIT_CALL', 'COERCE_IMPLICIT_CAST'),
    location: place,
  },
  A_ArrayExpr: { elements: nodes, list_start: place, list_end: place, location: place },
  A_Indirection: { arg: node, indirection: nodes },
  A_Indices: { is_slice: flag, lidx: node, uidx: node },
  GroupingFunc: { args: nodes, location: place },
  SQLValueFunction: {
    op: word('SVFOP_CURRENT_DATE', 'SVFOP_CURRENT_TIMESTAMP', 'SVFOP_LOCALTIMESTAMP'),
    typmod: number,
    location: place,
  },
}

/** Fields by node type. */
export const nodeRules: ReadonlyMap<string, Rules> = new Map<string, Rules>(
  Object.entries({ ...statements, ...sources, ...expressions }),
)
