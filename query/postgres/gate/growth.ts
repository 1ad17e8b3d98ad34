/**
 * How much memory the expressions of a statement can need at most, as far as its text tells.
 * Neither work_mem nor temp_file_limit bounds what one row's expressions make: `x || x` over twelve
 * levels of sub-selects is 4,096 times x. So sizes are followed from the columns of the catalog
 * through every level, and a statement that can grow beyond the bound is refused. What a column of
 * unbounded length holds is the chain's; it is counted with a size that few values reach.
 */

import type { RelationColumn } from '../../logicalType.ts'
import { beginOf } from '../parse/places.ts'
import {
  bare,
  errorAt,
  fieldsOf,
  integerConstant,
  isFields,
  type NodeFields,
  nodeList,
  stringConstant,
  stringOf,
  type Walk,
} from '../parse/walk.ts'
import { columnPath } from './comparisons.ts'
import { COLLECTED_BYTES_MAX, collectors } from './expressions/collecting.ts'
import { textFunctions, textTypes } from './expressions/functions.ts'

/** Bytes that the expressions of one SELECT may make of one row, with what is made on the way. */
export const EXPRESSIONS_BYTES_MAX = 512 * 1024 * 1024

/** A column of bytes or text: calldata and data of logs are rarely longer. */
const LONG_BYTES = 1024 * 1024
/** Any other value: a word as hex has 66 characters, a number of 256 bits 78. */
const SHORT_BYTES = 100
/** The bytes that an aggregate collects: all of a statement share a bound, and it has eight at most. */
const COLLECTED_BYTES = COLLECTED_BYTES_MAX / 4
/** A padding of 4,096 characters. */
const PADDED_BYTES = 16_384
const CHARACTER_BYTES = 4

interface Size {
  /** The value alone. */
  readonly bytes: number
  /** The value and what was made on the way: the server keeps all until the row is done. */
  readonly cost: number
  readonly isText: boolean
}

/** Parts of a column's name; undefined stands for `*`. */
type Path = readonly (string | undefined)[]

/** Columns of a source, or of a SELECT, by name. */
type Sizes = ReadonlyMap<string, Size>

interface Seen {
  readonly sources: readonly { readonly name: string; readonly sizes: Sizes }[]
  readonly ctes: ReadonlyMap<string, Sizes>
}

/** @throws UserQueryError `sql_refused` */
export function assertGrowth(statement: unknown, walk: Walk): void {
  new Growth(walk).select(fieldsOf(statement, 'SelectStmt'), { sources: [], ctes: new Map() })
}

const sizeOfColumn = ({ type, width }: RelationColumn): Size => {
  const isLong = (type === 'bytes' && width === undefined) || type === 'text' || type === 'json'
  return leaf(isLong ? LONG_BYTES : SHORT_BYTES, type === 'text')
}
/** A value that is there already. */
const leaf = (bytes: number, isText = false): Size => ({ bytes, cost: 0, isText })
const short = leaf(SHORT_BYTES)
const unknownSize = leaf(LONG_BYTES)

const sum = (sizes: readonly Size[], of: 'bytes' | 'cost'): number =>
  sizes.reduce((total, size) => total + size[of], 0)
const largest = (sizes: readonly Size[]): number => Math.max(0, ...sizes.map(({ bytes }) => bytes))
/** A value made of others. */
const made = (bytes: number, of: readonly Size[], isText = false): Size => ({
  bytes,
  cost: bytes + sum(of, 'cost'),
  isText,
})

class Growth {
  readonly #walk: Walk
  /** Sizes of nodes that were looked at, each of which stands in one place. */
  readonly #sizes = new WeakMap<NodeFields, Size>()

  constructor(walk: Walk) {
    this.#walk = walk
  }

  /** Sizes of the outputs, in order. */
  select(select: NodeFields, outer: Seen): readonly (readonly [string, Size])[] {
    let seen = outer
    for (const cte of nodeList(bare(select['withClause'])['ctes'])) {
      const { ctename, ctequery, aliascolnames } = fieldsOf(cte, 'CommonTableExpr')
      const outputs = this.select(fieldsOf(ctequery, 'SelectStmt'), seen)
      const sizes = named(outputs, aliascolnames)
      seen = { ...seen, ctes: new Map([...seen.ctes, [String(ctename), sizes]]) }
    }
    if (select['larg'] !== undefined) return this.#ofBoth(select, seen)
    if (select['valuesLists'] !== undefined) return this.#ofRows(nodeList(select['valuesLists']), seen)
    for (const item of nodeList(select['fromClause'])) seen = this.#withItem(item, seen)
    const { targetList, fromClause: _, withClause: __, ...clauses } = select
    const targets = nodeList(targetList)
    const outputs = targets.flatMap((target) => this.#outputs(target, seen))
    this.#assert(
      sum(
        outputs.map(([, size]) => size),
        'cost',
      ),
      targets[0],
    )
    for (const clause of Object.values(clauses)) this.#assert(this.#size(clause, seen).cost, targets[0])
    return outputs
  }

  #assert(bytes: number, target: unknown): void {
    if (bytes <= EXPRESSIONS_BYTES_MAX) return
    throw errorAt(
      { ...this.#walk, at: beginOf(target) },
      'sql_refused',
      `values of this SELECT can grow beyond ${EXPRESSIONS_BYTES_MAX} bytes`,
      'join fewer values, or parts of them: substring(data, 1, 32)',
    )
  }

  #ofBoth({ larg, rarg }: NodeFields, seen: Seen): readonly (readonly [string, Size])[] {
    const right = this.select(bare(rarg), seen)
    return this.select(bare(larg), seen).map(([name, size], index) => {
      const other = right[index]?.[1] ?? size
      return [name, other.bytes > size.bytes ? other : size]
    })
  }

  #ofRows(rows: readonly unknown[], seen: Seen): readonly (readonly [string, Size])[] {
    const sizes = rows.map((row) =>
      nodeList(fieldsOf(row, 'List')['items']).map((item) => this.#size(item, seen)),
    )
    return (sizes[0] ?? []).map((_, index) => {
      const values = sizes.map((row) => row[index] ?? short)
      this.#assert(sum(values, 'cost'), rows[0])
      return [
        `column${index + 1}`,
        leaf(
          largest(values),
          values.every(({ isText }) => isText),
        ),
      ]
    })
  }

  #outputs(target: unknown, seen: Seen): readonly (readonly [string, Size])[] {
    const { name, val } = fieldsOf(target, 'ResTarget')
    const path = columnPath(val)
    if (path && path.at(-1) === undefined) return starOf(path, seen)
    return [[typeof name === 'string' ? name : (path?.at(-1) ?? ''), this.#size(val, seen)]]
  }

  /** The names seen with an item of FROM; names further left are seen too, as LATERAL may. */
  #withItem(item: unknown, seen: Seen): Seen {
    const [[type, inner] = ['', {}]] = Object.entries(bare(item))
    const fields = bare(inner)
    const alias = bare(fields['alias'])
    const name = String(alias['aliasname'] ?? fields['relname'] ?? '')
    const withSizes = (sizes: Sizes): Seen => ({ ...seen, sources: [{ name, sizes }, ...seen.sources] })
    if (type === 'RangeVar')
      return withSizes(named([...(seen.ctes.get(String(fields['relname'])) ?? [])], alias['colnames']))
    if (type === 'RangeSubselect') {
      const known = this.#walk.findings.relationColumns.get(fields['subquery'])
      const outputs = known
        ? known.map((column) => [column.name, sizeOfColumn(column)] as const)
        : this.select(fieldsOf(fields['subquery'], 'SelectStmt'), seen)
      return withSizes(named(outputs, alias['colnames']))
    }
    if (type === 'JoinExpr') {
      const joined = this.#withItem(fields['rarg'], this.#withItem(fields['larg'], seen))
      this.#assert(this.#size(fields['quals'], joined).cost, undefined)
      return joined
    }
    this.#assert(this.#size(fields['functions'], seen).cost, undefined)
    return seen
  }

  #size(value: unknown, seen: Seen): Size {
    if (Array.isArray(value)) return this.#all(value, seen)
    if (!isFields(value)) return leaf(0)
    const known = this.#sizes.get(value)
    if (known) return known
    const [[type, fields] = ['', undefined], ...more] = Object.entries(value)
    const size =
      more.length === 0 && isFields(fields)
        ? this.#node(type, fields, value, seen)
        : this.#all(Object.values(value), seen)
    this.#sizes.set(value, size)
    return size
  }

  #node(type: string, fields: NodeFields, node: NodeFields, seen: Seen): Size {
    switch (type) {
      case 'A_Const':
        return leaf((stringConstant(node)?.length ?? 0) * CHARACTER_BYTES)
      case 'ColumnRef':
        return sizeOfReference(columnPath(node) ?? [], seen)
      case 'SubLink':
        return this.#subLink(fields, seen)
      case 'FuncCall':
        return this.#call(fields, seen)
      case 'A_Expr':
        return this.#operator(fields, seen)
      case 'TypeCast': {
        const size = this.#size(fields['arg'], seen)
        return { ...size, isText: textTypes.has(lastName(bare(fields['typeName'])['names'])) }
      }
      case 'CaseExpr': {
        const results = [
          ...nodeList(fields['args']).map((arm) => fieldsOf(arm, 'CaseWhen')['result']),
          fields['defresult'],
        ]
        return this.#oneOf(results, this.#all(Object.values(fields), seen), seen)
      }
      case 'CoalesceExpr':
      case 'MinMaxExpr':
        return this.#oneOf(nodeList(fields['args']), this.#all([fields['args']], seen), seen)
      case 'A_Indirection':
        return this.#size(fields['arg'], seen)
      case 'BoolExpr':
      case 'NullTest':
        return { ...this.#all(Object.values(fields), seen), bytes: SHORT_BYTES }
      case 'A_ArrayExpr':
      case 'RowExpr': {
        const all = this.#all(Object.values(fields), seen)
        return made(all.bytes, [all])
      }
      default:
        return this.#all(Object.values(fields), seen)
    }
  }

  #all(values: readonly unknown[], seen: Seen): Size {
    const sizes = values.filter((value) => typeof value === 'object').map((value) => this.#size(value, seen))
    return { bytes: sum(sizes, 'bytes'), cost: sum(sizes, 'cost'), isText: false }
  }

  #oneOf(values: readonly unknown[], { cost }: Size, seen: Seen): Size {
    const sizes = values.filter((value) => value !== undefined).map((value) => this.#size(value, seen))
    const isText = sizes.length > 0 && sizes.every((size) => size.isText)
    return { bytes: largest(sizes), cost, isText }
  }

  #subLink({ subLinkType, subselect, testexpr }: NodeFields, seen: Seen): Size {
    const [first] = this.select(fieldsOf(subselect, 'SelectStmt'), seen)
    const tested = this.#size(testexpr, seen)
    if (subLinkType === 'ARRAY_SUBLINK') return made(COLLECTED_BYTES, [])
    return subLinkType === 'EXPR_SUBLINK' && first ? first[1] : { ...tested, bytes: SHORT_BYTES }
  }

  #call(fields: NodeFields, seen: Seen): Size {
    const name = lastName(fields['funcname'])
    const args = nodeList(fields['args']).map((argument) => this.#size(argument, seen))
    const [first] = args
    if (name === 'as_text' && first?.isText) return first
    const { args: _, funcname: __, ...clauses } = fields
    const all = [...args, this.#all(Object.values(clauses), seen)]
    return made(
      resultBytes(name, nodeList(fields['args']), args),
      all,
      name === 'as_text' || textFunctions.has(name),
    )
  }

  #operator({ name, kind, lexpr, rexpr }: NodeFields, seen: Seen): Size {
    const sides = [lexpr, rexpr].map((side) => this.#size(side, seen))
    const [left = short] = sides
    const operator = lastName(name)
    if (kind === 'AEXPR_NULLIF') return { ...left, cost: sum(sides, 'cost') }
    if (operator === '||')
      return made(
        sum(sides, 'bytes'),
        sides,
        sides.some(({ isText }) => isText),
      )
    const isPart = /^[-#]>>?$|^-$/.test(operator)
    return made(isPart ? left.bytes : SHORT_BYTES, sides, operator.endsWith('>>'))
  }
}

/** Results of one length, whatever is given. */
const shortResults: ReadonlySet<string> = new Set(
  `length char_length character_length octet_length bit_length position strpos starts_with ascii chr to_hex md5
   get_byte get_bit bit_count sha224 sha256 sha384 sha512 crc32 crc32c count sum avg jsonb_array_length jsonb_typeof
   array_length cardinality array_position array_lower array_upper array_ndims num_nulls num_nonnulls to_char
   word_uint word_int word_address word_bool count_collected record_send non_bytes begins`.split(/\s+/),
)
const takesPart: ReadonlySet<string> = new Set(['substring', 'substr', 'left', 'right'])

/** Bytes of what a function gives at most; of those that are not known here, all that it is given. */
function resultBytes(name: string, args: readonly unknown[], sizes: readonly Size[]): number {
  const [first = short, second] = sizes
  if (collectors.has(name)) return COLLECTED_BYTES
  if (shortResults.has(name)) return SHORT_BYTES
  if (name === 'lpad' || name === 'rpad') return PADDED_BYTES
  // Two digits for each byte.
  if (name === 'encode' || name === 'as_text') return 2 * first.bytes
  if (name === 'concat_ws') return sum(sizes, 'bytes') + sizes.length * first.bytes
  if (name === 'array_to_string') return first.bytes * (1 + (second?.bytes ?? 0))
  const count = takesPart.has(name) ? integerConstant(args.at(-1)) : undefined
  const isCounted = count !== undefined && (args.length === 3 || name === 'left' || name === 'right')
  if (isCounted && count >= 0) return Math.min(first.bytes, count * CHARACTER_BYTES)
  return sum(sizes, 'bytes')
}

const lastName = (names: unknown): string => stringOf(nodeList(names).at(-1)) ?? ''

/** The columns under the names of `AS name (columns)`. */
function named(outputs: readonly (readonly [string, Size])[], names: unknown): Sizes {
  const given = nodeList(names).map(stringOf)
  const sizes = new Map<string, Size>()
  for (const [index, [name, size]] of outputs.entries()) {
    const called = given[index] ?? name
    const other = sizes.get(called)
    sizes.set(called, other && other.cost > size.cost ? other : size)
  }
  return sizes
}

function sourcesOf(path: Path, { sources }: Seen): Seen['sources'] {
  return path.length < 2 ? sources : sources.filter(({ name }) => name === path[0])
}

const starOf = (path: Path, seen: Seen): readonly (readonly [string, Size])[] =>
  sourcesOf(path, seen).flatMap(({ sizes }) => [...sizes])

/** The largest of what a name can mean; of a whole row, all of it. */
function sizeOfReference(path: Path, seen: Seen): Size {
  const name = path.at(-1)
  const found = sourcesOf(path, seen).flatMap(({ sizes }) => sizes.get(name ?? '') ?? [])
  const [first, ...others] = found
  if (first) return others.reduce((one, other) => (other.cost > one.cost ? other : one), first)
  const row = seen.sources.find((source) => source.name === name || name === undefined)
  return row ? made(sum([...row.sizes.values()], 'bytes'), [...row.sizes.values()]) : unknownSize
}
