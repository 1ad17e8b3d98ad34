/** Logs of any event in which its integers are each edge of the ways to hold numbers. */
import { type AbiEvent, type AbiParameter, parseAbiItem, stringToHex } from 'viem'
import { numberEdges } from '../transform/numberEdges.ts'
import { type ArbitraryLog, encodeLog } from './arbitraryLog.ts'

/** Every width, in tuples, arrays and both at once. */
const widths = Array.from({ length: 32 }, (_, index) => (index + 1) * 8)
const each = `(${widths.map((bits) => `uint${bits} u${bits}, int${bits} i${bits}`).join(', ')})`
export const nestedEvents: readonly AbiEvent[] = [
  `event Widths(${each} one, ${each}[] many)`,
  'event Nested(int256 indexed i, uint128[2][] pairs, (uint64 x, (int128 y, uint256[] z)[2] inner)[] outer, int64[3] three)',
].map((text): AbiEvent => parseAbiItem(text as 'event E(uint256)'))

const signed = [
  ...numberEdges,
  ...numberEdges.map((edge) => -edge),
  2n ** 127n,
  2n ** 128n - 1n,
  -(2n ** 255n),
]

/** One for each edge that some integer of the event holds, and for each end of its integers. */
export const edgeLogs = (event: AbiEvent): readonly ArbitraryLog[] =>
  edgesOf(event).map((edge) =>
    encodeLog(
      event,
      event.inputs.map((input) => argumentOf(input, edge)),
    ),
  )

function edgesOf(event: AbiEvent): readonly bigint[] {
  const ranges = event.inputs.flatMap(rangesOf)
  const held = signed.filter((edge) => ranges.some(({ min, max }) => min <= edge && edge <= max))
  return [...new Set([...held, ...ranges.flatMap(({ min, max }) => [min, max])])]
}

interface Range {
  readonly min: bigint
  readonly max: bigint
}

const componentsOf = (parameter: AbiParameter) => ('components' in parameter ? parameter.components : [])

function rangesOf(parameter: AbiParameter): Range[] {
  if (parameter.type.startsWith('tuple')) return componentsOf(parameter).flatMap(rangesOf)
  const [, sign, bits] = /^(u?)int(\d+)/.exec(parameter.type) ?? []
  if (bits === undefined) return []
  const half = 2n ** (BigInt(bits) - 1n)
  return [sign === 'u' ? { min: 0n, max: 2n * half - 1n } : { min: -half, max: half - 1n }]
}

/** A value in which every integer is the edge, or the end of its range next to it. */
function argumentOf(
  parameter: AbiParameter & { readonly indexed?: boolean | undefined },
  edge: bigint,
): unknown {
  const { type } = parameter
  const [, element, length] = /^(.*)\[(\d*)\]$/.exec(type) ?? []
  const isReference = element !== undefined || /^(tuple|string|bytes$)/.test(type)
  if (parameter.indexed && isReference) return `0x${'7'.repeat(64)}`
  if (element !== undefined) {
    const count = length === '' ? 2 : Number(length)
    return Array.from({ length: count }, () =>
      argumentOf({ ...parameter, type: element, indexed: false }, edge),
    )
  }
  if (type === 'tuple')
    return Object.fromEntries(componentsOf(parameter).map((one) => [one.name ?? '', argumentOf(one, edge)]))
  const [range] = rangesOf(parameter)
  if (range) return edge < range.min ? range.min : edge > range.max ? range.max : edge
  if (type === 'bool') return true
  if (type === 'string') return stringToHex('text')
  if (type === 'address') return `0x${'5'.repeat(40)}`
  return `0x${'01'.repeat(Number(type.slice('bytes'.length)) || 1)}`
}
