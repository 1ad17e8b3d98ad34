// Goal: what was learned of a chain while it is written is kept, only added to, and by its writer alone;
// a start looks at the newest final block too, and believes no endpoint alone where there are several (L34).
// Method: a real store, and a built chain that forked above the blocks that are held.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EndpointStatus } from '#ingest/rpc/endpoints/Endpoint.ts'
import { hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { keepLooseParts, keepRules, openChain, readChainIdentity } from '#store/ledger/ledger.ts'
import { rulesOf } from '../../../program/chain/chainRules.ts'
import { type ChainStore, openChainStore } from '../../store/support/chainStore.ts'
import { answerBytes } from '../../support/answerBytes.ts'
import type { ForeignBlock } from '../../support/foreignChain.ts'
import { forkingChain } from '../../support/forkingChain.ts'

const zero = hash(`0x${'00'.repeat(32)}`)
let store: ChainStore
beforeAll(async () => {
  store = await openChainStore({ headFrom: 0, fence: 3n })
})
afterAll(() => store.close())

test('what was learned while a chain is written is kept and added to, but not by a writer of the past', async () => {
  const { postgres, chainId } = store
  const held = async () => [...((await readChainIdentity(postgres, chainId))?.loose ?? [])].toSorted()
  await keepLooseParts(postgres, chainId, ['receiptsRoot'], 3n)
  await keepLooseParts(postgres, chainId, ['receiptsRoot', 'bloom'], 3n)
  await expect(keepLooseParts(postgres, chainId, ['header'], 2n)).rejects.toMatchObject({
    code: 'fenced_out',
  })
  expect(await held()).toEqual(['bloom', 'receiptsRoot'])
  const identity = { chainId, genesisHash: zero, startBlock: 0, headerRule: 'ethereum' } as const
  await openChain(postgres, { ...identity, loose: ['header'] }, 0, 4n)
  expect(await held()).toEqual(['bloom', 'header', 'receiptsRoot'])
})

test('what one endpoint told alone and another contradicted does not come back with a process that stood by', async () => {
  const other = await openChainStore({ headFrom: 0, fence: 3n })
  afterAll(() => other.close())
  const { postgres, chainId } = other
  const lonely = {
    ...{ chainId, genesisHash: zero, startBlock: 0, headerRule: 'ethereum' as const },
    ...{ loose: ['receiptsRoot', 'bloom'] as const, alone: ['header', 'receiptsRoot'] as const },
  }
  const settled = {
    headerRule: 'tempo',
    loose: ['bloom'],
    alone: [],
    dropped: ['header', 'receiptsRoot'],
  } as const
  await expect(keepRules(postgres, chainId, settled, 2n)).rejects.toMatchObject({ code: 'fenced_out' })
  await keepRules(postgres, chainId, settled, 3n)
  await openChain(postgres, lonely, 0, 4n)
  const held = await readChainIdentity(postgres, chainId)
  expect({ ...held, dropped: held?.dropped?.toSorted() }).toMatchObject(settled)
  // Two endpoints may show it later after all.
  await keepLooseParts(postgres, chainId, ['receiptsRoot'], 4n)
  expect((await readChainIdentity(postgres, chainId))?.loose?.toSorted()).toEqual(['bloom', 'receiptsRoot'])
})

const lie = ({ block, receipts }: ForeignBlock): ForeignBlock => ({
  block,
  receipts: receipts.map((receipt) => ({ ...receipt, status: '0x0' })),
})
const truth = (told: ForeignBlock): ForeignBlock => told

test.each([
  ['is learned at a start', 12, { a: truth, b: truth }, ['receiptsRoot']],
  ['is learned of the only endpoint', 12, { only: truth }, ['receiptsRoot']],
  ['is not learned of one endpoint while another is silent', 12, { a: truth, b: null }, []],
  ['that a liar tells is not learned beside an honest endpoint', 21, { liar: lie, honest: truth }, []],
  ['that a liar tells is not learned while the honest one is silent', 21, { liar: lie, honest: null }, []],
])('a fork above the blocks that are held %s', async (_, forkAt, endpoints, loose) => {
  const blocks = await forkingChain(21, forkAt, 'receiptsRoot')
  const at = (number: number) => {
    const block = blocks[number]
    if (!block) throw new Error(`no block ${number}`)
    return block
  }
  const refOf = (number: number) => {
    const { block } = at(number)
    return { number, hash: hash(block.hash), parentHash: hash(block.parentHash) }
  }
  const answering = Object.entries(endpoints).flatMap(([name, tell]) => (tell ? [{ name, tell }] : []))
  const source: Parameters<typeof rulesOf>[0] = {
    endpoints: () => Object.keys(endpoints).map((name) => ({ name }) as EndpointStatus),
    head: async () => ({ head: refOf(20), finalized: 18, finalizedBy: refOf(18) }),
    blockRef: async (number) => refOf(number),
    fetch: async (range, options) => {
      const asked = answering.find(({ name }) => !options?.not?.has(name)) ?? answering[0]
      if (!asked) throw new Error('nobody answers')
      const bytes = answerBytes([{ number: range.from, ...asked.tell(at(range.from)) }])
      return { range, bytes, endpoint: asked.name }
    },
  }
  const known = { chainId: 25, genesisHash: zero, startBlock: 0, headerRule: 'ethereum' } as const
  const { chainId, postgres } = store
  const rules = await rulesOf(source, known, { chainId, postgres, clock: systemRuntime().clock })
  expect(rules).toEqual({ headerRule: 'ethereum', loose, alone: [] })
})
