// Goal: after ten thousand fees turned into another token, every fee pool, order and price level is
// what the contracts answer, and the feed passes the check of an aggregator.
// Method: the program on a dev chain that test/chain/generate.ts fills, over HTTP, beside the node.
import { createPublicClient, http } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../../chain/runCommand.ts'
import { startTestDevChain } from '../../support/devchain.ts'
import { awaitProjections, rowsOf, runFeedCheck } from '../support/exchangeChecks.ts'
import { freshDataDir, get, type RunningMillrace, startMillrace } from '../support/millrace.ts'

const exchange = '0xdec0000000000000000000000000000000000000'
const feeManager = '0xfeec000000000000000000000000000000000000'
const transactions = 22_000
const feeSwapsMin = 10_000

describe('a generated exchange', () => {
  const dataDir = freshDataDir()
  let chain: Awaited<ReturnType<typeof startTestDevChain>>
  let program: RunningMillrace
  beforeAll(async () => {
    chain = await startTestDevChain()
    program = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: chain.rpcUrl })
    // The node keeps no old states: genesis is asked for while it is the newest.
    await awaitProjections(program, 0)
    await runCommand('generate', '--rpc', chain.rpcUrl, '--txs', `${transactions}`, '--seed', '14')
    await awaitProjections(program, Number(await node().getBlockNumber()))
  })
  afterAll(async () => {
    await program?.stop()
    await chain?.remove()
    dataDir.remove()
  })
  const node = () => createPublicClient({ transport: http(chain.rpcUrl, { batch: true }) })

  test('fee pools are what getPool answers', async () => {
    const sql = `SELECT count(*) FROM token_transfers WHERE is_fee AND token <> '0x20c0000000000000000000000000000000000000'`
    const { body } = await get(
      `${program.origin}/v1/indexer/query?engine=clickhouse&sql=${encodeURIComponent(sql)}`,
    )
    expect(Number(Object(body).rows[0][0])).toBeGreaterThan(feeSwapsMin)
    const pools = await rowsOf(program.origin, '/v1/fee-amm/pools?limit=200')
    expect(pools.length).toBeGreaterThan(12)
    const told = await Promise.all(
      pools.map(({ userToken, validatorToken }) =>
        node().readContract({
          ...{ address: feeManager, abi: Abis.feeAmm, functionName: 'getPool' },
          args: [userToken.address, validatorToken.address],
        }),
      ),
    )
    expect(pools.map(({ userToken, validatorToken }) => [userToken.amount, validatorToken.amount])).toEqual(
      told.map(({ reserveUserToken, reserveValidatorToken }) => [
        `${reserveUserToken}`,
        `${reserveValidatorToken}`,
      ]),
    )
  })

  test('orders and levels are what the exchange answers', async () => {
    const orders = await rowsOf(program.origin, '/v1/exchange/orders?limit=200&sort=time')
    expect(orders.length).toBeGreaterThan(100)
    const told = await Promise.all(
      orders.map(({ orderId }) =>
        node().readContract({
          ...{ address: exchange, abi: Abis.stablecoinDex, functionName: 'getOrder' },
          args: [BigInt(orderId)],
        }),
      ),
    )
    expect(orders.map(({ maker, remaining, tick }) => [maker, remaining, tick])).toEqual(
      told.map(({ maker, remaining, tick }) => [maker.toLowerCase(), `${remaining}`, tick]),
    )
    const bases = new Set(orders.map(({ pair }) => pair.base.address))
    for (const base of bases) {
      const { body } = await get(`${program.origin}/v1/exchange/pairs/${base}/depth?levels=200`)
      for (const [side, isBid] of [
        ['bids', true],
        ['asks', false],
      ] as const) {
        const levels: { tick: number; size: string }[] = Object(body)[side]
        const answers = await Promise.all(
          levels.map(({ tick }) =>
            node().readContract({
              ...{ address: exchange, abi: Abis.stablecoinDex, functionName: 'getTickLevel' },
              args: [base, tick, isBid],
            }),
          ),
        )
        expect(levels.map(({ size }) => size)).toEqual(answers.map(([, , size]) => `${size}`))
      }
    }
  })

  test('its feed passes the check of an aggregator', async () => {
    const { code, said } = await runFeedCheck(program.origin)
    expect([code, said]).toEqual([0, expect.stringContaining(': 0 problems')])
  })
})
