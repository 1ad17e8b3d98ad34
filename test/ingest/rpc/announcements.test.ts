// Goal: an endpoint that announces heads without end costs no more readings than polling would (L42).
// Method: readings of a head that does not move, each announced anew, on a clock that only waits move.
import { expect, onTestFinished, test } from 'vitest'
import { AgreedFinality } from '#ingest/finality/rules/AgreedFinality.ts'
import { RpcClient } from '#ingest/rpc/client/client.ts'
import { parseEndpointUrl } from '#ingest/rpc/client/endpointUrl.ts'
import { Admission } from '#ingest/rpc/endpoints/Admission.ts'
import { Endpoint, GONE_MS } from '#ingest/rpc/endpoints/Endpoint.ts'
import { EndpointSet } from '#ingest/rpc/endpoints/EndpointSet.ts'
import { Heads } from '#ingest/rpc/heads/Heads.ts'
import { silentLogger } from '#telemetry.ts'
import { FakeChain } from '../support/fakeChain.ts'
import { FAR, HEAD, SteppedClock } from '../support/lyingHeads.ts'
import { memoryNodes } from '../support/memoryNodes.ts'

const READINGS = 40
const A_SECOND_MAX = 20

test('announcements without end are read at the pace of polling', async () => {
  const clock = new SteppedClock()
  const chain = new FakeChain(HEAD + 1)
  const transport = memoryNodes(chain, new Map())
  const client = new RpcClient(parseEndpointUrl('http://liar'), clock, 1, transport)
  const endpoints = new EndpointSet([new Endpoint(client, clock, 1)], clock)
  onTestFinished(() => endpoints.close())
  const admission = new Admission({ clock, log: silentLogger, chainId: 1, genesisHash: null })
  const shared = { clock, finalityDepth: 64 }
  const finality = new AgreedFinality({ ...shared, endpoints: endpoints.all, goneMs: GONE_MS })
  const heads = new Heads({ ...shared, endpoints, admission, announced: () => true, finality })
  await heads.read()
  const startMs = clock.ms
  for (let reading = 0; reading < READINGS; reading++) {
    heads.announce(FAR)
    await heads.waitForHead(HEAD, 10_000)
    await heads.read()
  }
  expect(clock.ms - startMs).toBeGreaterThanOrEqual((READINGS / A_SECOND_MAX) * 1_000)
})
