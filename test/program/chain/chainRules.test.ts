// Goal: what blocks of a chain do not prove is learned from several of them and is no lie there; logs
// have their own numbers where those name them, else their positions; an endpoint that tells false
// blocks teaches nothing beside an honest one, and nothing on a chain whose forks are known (L34).
// Method: blocks of foreign shapes by hand, and a real Ethereum block, as one or two endpoints
// answer them.
import { beforeAll, describe, expect, test } from 'vitest'
import type { EndpointStatus } from '#ingest/rpc/endpoints/Endpoint.ts'
import type { RawRange } from '#ingest/source.ts'
import { hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import { describeRules, learnRules, type Teachers } from '../../../program/chain/chainRules.ts'
import { answerBytes } from '../../support/answerBytes.ts'
import { type BuiltBlock, builtBlock, type JsonObject } from '../../support/builtBlock.ts'
import { type ForeignBlock, foreignChain } from '../../support/foreignChain.ts'

const HEAD = 40
const FOREIGN = 25
const { clock } = systemRuntime()
let restarting: readonly ForeignBlock[]
let skipping: readonly ForeignBlock[]
let ethereum: BuiltBlock
beforeAll(async () => {
  restarting = await foreignChain(HEAD + 1, 'restart')
  skipping = await foreignChain(HEAD + 1, 'skip')
  ethereum = await builtBlock()
})

type Answer = { readonly block: JsonObject; readonly receipts: readonly (JsonObject | null)[] }
type Answers = (number: number, isSingly?: boolean) => Answer

const rawOf = (number: number, answer: Answer, endpoint: string): RawRange => ({
  range: { from: number, to: number },
  bytes: answerBytes([{ number, ...answer }]),
  endpoint,
})

/** Endpoints in their order; what `not` names is asked last. */
function sourceOf(endpoints: Readonly<Record<string, Answers>>, honest: Answers, head = HEAD): Teachers {
  const refOf = (number: number) => {
    const { block } = honest(number)
    return { number, hash: hash(String(block['hash'])), parentHash: hash(String(block['parentHash'])) }
  }
  return {
    head: async () => ({ head: refOf(head), finalized: head, finalizedBy: refOf(head) }),
    blockRef: async (number) => refOf(number),
    endpoints: () =>
      Object.keys(endpoints).map((name) => ({ name, state: 'healthy', head }) as EndpointStatus),
    fetch: async ({ from }, options) => {
      const names = Object.keys(endpoints)
      const name = names.find((one) => !options?.not?.has(one)) ?? names[0] ?? ''
      return rawOf(from, (endpoints[name] ?? honest)(from, options?.receiptsSingly ?? false), name)
    },
  }
}

const of =
  (blocks: readonly ForeignBlock[]): Answers =>
  (number) => {
    const answer = blocks[number]
    if (!answer) throw new Error(`no block ${number}`)
    return answer
  }

describe('a chain with roots of its own', () => {
  const loose = ['transactionsRoot', 'receiptsRoot', 'logIndexes']

  test('is learned as one, told in a line, and its blocks are taken and marked', async () => {
    for (const blocks of [restarting, skipping]) {
      const rules = await learnRules(sourceOf({ only: of(blocks) }, of(blocks)), FOREIGN, clock)
      expect(rules).toEqual({ headerRule: 'unknown', loose, alone: [] })
      expect(describeRules(rules)).toContain('do not prove their block hashes, transactions, receipts')
      const profile = { chainId: FOREIGN, kind: 'evm', checks: 'roots', ...rules } as const
      const raw = rawOf(7, of(blocks)(7), 'only')
      expect(decodeRange(profile, raw.bytes, raw.range).batch.proofs).toEqual({
        provedBlocks: 0,
        unprovableBlocks: 1,
        // Its authorizations are written in a shape of their own.
        unprovableTxs: 1,
        unprovableParts: expect.arrayContaining(['header', 'transactionsRoot', 'receiptsRoot']),
      })
    }
  })

  test('is learned from blocks whose lists lack receipts', async () => {
    const answers: Answers = (number, isSingly) => {
      const { block, receipts } = of(restarting)(number)
      const [first, ...others] = receipts
      return { block, receipts: first ? (isSingly ? [null, ...others] : others) : [] }
    }
    const rules = await learnRules(sourceOf({ only: answers }, answers), FOREIGN, clock)
    expect(rules).toEqual({ headerRule: 'unknown', loose: loose.slice(0, 2), alone: [] })
  })

  test('holds false amounts no better than its blocks do, but never a false bloom', async () => {
    const answers: Answers = (number) => {
      const { block, receipts } = of(restarting)(number)
      return { block: { ...block, logsBloom: `0x${'11'.repeat(256)}` }, receipts }
    }
    const profile = {
      chainId: FOREIGN,
      kind: 'evm',
      checks: 'roots',
      headerRule: 'unknown',
      loose: [],
    } as const
    const raw = rawOf(7, answers(7), 'liar')
    expect(() =>
      decodeRange(
        { ...profile, loose: ['transactionsRoot', 'receiptsRoot', 'logIndexes'] },
        raw.bytes,
        raw.range,
      ),
    ).toThrow(expect.objectContaining({ code: 'bloom_refuted' }))
  })

  test('gains nothing for an endpoint of a chain whose forks are known', async () => {
    const rules = await learnRules(sourceOf({ liar: of(restarting) }, of(restarting)), 1, clock)
    expect(rules.loose).toEqual([])
    const profile = { chainId: 1, kind: 'evm', checks: 'roots', headerRule: 'ethereum' } as const
    const raw = rawOf(7, of(restarting)(7), 'liar')
    expect(() => decodeRange({ ...profile, loose: ['logIndexes'] }, raw.bytes, raw.range)).toThrow(
      expect.objectContaining({ code: 'shape_invalid' }),
    )
  })
})

describe('a chain whose blocks prove all', () => {
  const honest: Answers = () => ethereum
  const at = Number('0x3e8')

  test('is learned as one whatever one endpoint of two tells', async () => {
    const lies: readonly Answers[] = [
      () => ({ ...ethereum, receipts: ethereum.receipts.map((receipt) => ({ ...receipt, status: '0x0' })) }),
      () => ({ ...ethereum, block: { ...ethereum.block, transactionsRoot: `0x${'ab'.repeat(32)}` } }),
    ]
    for (const lie of lies) {
      const source = sourceOf({ liar: lie, honest }, honest, at)
      const oneHeight = {
        ...source,
        fetch: (_: unknown, options?: object) => source.fetch({ from: at, to: at }, options),
      }
      expect(await learnRules(oneHeight, FOREIGN, clock)).toEqual({
        ...{ headerRule: 'ethereum', loose: [], alone: [] },
      })
    }
  })
})
