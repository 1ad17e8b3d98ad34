import { expect, test } from 'vitest'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import { NodeAnswerError } from '#ingest/read/nodeAnswerError.ts'
import { DecodeWorkerError } from '../../ingest/decodeWorkerError.ts'
import { RefutedError } from '../../ingest/verify/refutedError.ts'
import { SenderRefutedError } from '../../ingest/verify/senderRefutedError.ts'
import { decodeRefs, FakeChain, FakeSource } from './support/fakeChain.ts'

/** A fetcher whose first decodings fail in turn, and who was blamed for it. */
function fetcherFailing(errors: Error[]) {
  const source = new FakeSource(new FakeChain(20))
  const blamed: string[] = []
  source.reportRefuted = (endpoint) => blamed.push(endpoint)
  const decode: typeof decodeRefs = async (raw) => {
    const error = errors.shift()
    if (error) throw error
    return decodeRefs(raw)
  }
  return { fetcher: { source, decode, failpoint: () => {}, lane: 'history' as const }, blamed }
}

const range = { from: 1, to: 8 }
const lost = () => new DecodeWorkerError(range.from, range.to, { cause: new Error('heap') })

test('a lost worker is not counted against the endpoint that answered', async () => {
  const { fetcher, blamed } = fetcherFailing([lost()])
  expect((await fetchVerified(fetcher, range)).batch.range).toEqual(range)
  expect(blamed).toEqual([])
})

test('an answer that is wrong is', async () => {
  const { fetcher, blamed } = fetcherFailing([
    new NodeAnswerError('json_invalid', '', 1),
    new RefutedError('header', 1),
  ])
  expect((await fetchVerified(fetcher, range)).batch.range).toEqual(range)
  expect(blamed).toHaveLength(2)
})

test('so is one that says another sender than signed', async () => {
  const { fetcher, blamed } = fetcherFailing([new SenderRefutedError(1, 0, '0x55', '0x66')])
  expect((await fetchVerified(fetcher, range)).batch.range).toEqual(range)
  expect(blamed).toHaveLength(1)
})

test('workers that keep dying are told about in the end', async () => {
  const { fetcher, blamed } = fetcherFailing([lost(), lost(), lost()])
  await expect(fetchVerified(fetcher, range)).rejects.toMatchObject({ code: 'decode_worker_lost' })
  expect(blamed).toEqual([])
})
