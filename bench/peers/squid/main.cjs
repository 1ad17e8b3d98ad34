// A Squid that does one thing: every ERC-20 Transfer of RPC_URL, to block LAST_BLOCK, as a row in Postgres.
const { EvmBatchProcessor } = require('@subsquid/evm-processor')
const { TypeormDatabase } = require('@subsquid/typeorm-store')
const { Transfer } = require('./lib/model')

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const processor = new EvmBatchProcessor()
  .setRpcEndpoint(process.env.RPC_URL)
  .setFinalityConfirmation(0)
  .setBlockRange({ from: 0, to: Number(process.env.LAST_BLOCK) })
  .addLog({ topic0: [transferTopic] })
  .setFields({ log: { topics: true, data: true, transactionHash: true }, block: { timestamp: true } })

processor.run(new TypeormDatabase(), async ({ blocks, store }) => {
  await store.insert(blocks.flatMap(({ header, logs }) => logs.map((log) => transferOf(header, log))))
})

function transferOf(header, log) {
  return new Transfer({
    id: log.id,
    block: header.height,
    logIndex: log.logIndex,
    token: log.address,
    from: `0x${log.topics[1].slice(26)}`,
    to: `0x${log.topics[2].slice(26)}`,
    amount: BigInt(log.data.slice(0, 66)),
    txHash: log.transactionHash,
    timestamp: new Date(header.timestamp),
  })
}
