// Goal: how a chain's headers hash is learned from a block all endpoints agree on, whatever one of
// them answers, and looked for again where it was unknown.
// Method: a recorded block as several endpoints answer it; a real store that was opened with an
// unknown rule.
import { afterAll, describe, expect, test } from 'vitest'
import type { RawRange } from '#ingest/source.ts'
import { type BlockRef, hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openChain, readChainIdentity } from '#store/ledger/ledger.ts'
import { quoteIdentifier, schemaOf } from '#store/sql.ts'
import { learnHeaderRule, type RulesSource } from '../../../program/chain/chainRules.ts'
import { openChainStore } from '../../store/support/chainStore.ts'
import { recordedRanges } from '../../transform/ranges.ts'

const { clock } = systemRuntime()
const height = 30
const zero = hash(`0x${'00'.repeat(32)}`)

describe('the rule of headers', () => {
  const range = { from: height, to: height }

  const answerOf = (change: (text: string) => string): Uint8Array<ArrayBuffer> => {
    const bytes = recordedRanges('tempo-dev-2k', 1)[height]?.bytes ?? new Uint8Array()
    return new Uint8Array(Buffer.from(change(Buffer.from(bytes).toString())))
  }
  const honest = answerOf((text) => text)
  const [told] = JSON.parse(Buffer.from(honest).toString())
  const ref: BlockRef = { number: height, hash: told.result.hash, parentHash: told.result.parentHash }

  /** Endpoints in their order; what `not` names is asked last. */
  function sourceOf(
    answers: Readonly<Record<string, Uint8Array<ArrayBuffer>>>,
  ): RulesSource & { asked: string[] } {
    const asked: string[] = []
    return {
      asked,
      head: async () => ({ head: { ...ref, number: height + 9 }, finalized: height, finalizedBy: ref }),
      blockRef: async () => ref,
      fetch: async (_range, options): Promise<RawRange> => {
        const names = Object.keys(answers)
        const endpoint = names.find((name) => !options?.not?.has(name)) ?? names[0] ?? ''
        asked.push(endpoint)
        return { range, bytes: answers[endpoint] ?? new Uint8Array(), endpoint }
      },
    }
  }

  const otherHash = (text: string) => text.replaceAll(String(ref.hash), `0x${'ab'.repeat(32)}`)

  test.each([
    ['a header of another hash', answerOf(otherHash)],
    ['a changed header', answerOf((text) => text.replace(/"stateRoot":"0x../, '"stateRoot":"0x00'))],
    ['no JSON', answerOf(() => '[')],
    ['no block', answerOf(() => '[{"id":0,"result":null},{"id":1,"result":null}]')],
  ])('%s from the first endpoint is passed over', async (_title, lie) => {
    const source = sourceOf({ liar: lie, honest })
    expect(await learnHeaderRule(source, clock)).toBe('ethereum')
    expect(source.asked).toEqual(['liar', 'honest'])
  })

  test('a block that no endpoint holds teaches nothing, nor does one alone that nobody can hash', async () => {
    expect(await learnHeaderRule(sourceOf({ liar: answerOf(otherHash) }), clock)).toBe('unknown')
  })

  test('a chain that was opened with an unknown rule learns it', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const identity = { chainId: store.chainId, genesisHash: zero, startBlock: 0 }
    const { name, pool } = { name: schemaOf(store.chainId), pool: store.postgres.pool }
    await pool.query(`UPDATE ${quoteIdentifier(name)}.chain SET header_rule = 'unknown'`)
    expect(await readChainIdentity(store.postgres, store.chainId)).toMatchObject({ headerRule: 'unknown' })
    await openChain(store.postgres, { ...identity, headerRule: 'tempo' }, 0, 3n)
    // A process that stood by, and knows less.
    await openChain(store.postgres, { ...identity, headerRule: 'unknown' }, 0, 4n)
    expect(await readChainIdentity(store.postgres, store.chainId)).toMatchObject({ headerRule: 'tempo' })
  })
})
