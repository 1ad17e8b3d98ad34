/** Receipts of jobs: signed by a key of the installation, proved by the chains that are indexed here. */
import { statedOrigin } from '#api/access/site.ts'
import { ReceiptKeys } from '#orchestrator/receipt/ReceiptKeys.ts'
import { Receipts, type ReceiptsOptions } from '#orchestrator/receipt/Receipts.ts'
import { receiptEndpoints } from '#orchestrator/rest/jobs/index.ts'
import { appDatabase } from '#rows/database.ts'
import { TransferProofs } from '#store/proofs/TransferProofs.ts'
import { definePart } from '../part.ts'

export const receiptsPart = definePart({
  name: 'receipts',
  endpoints: receiptEndpoints,
  open: async ({ config, program, secrets, chains }) => {
    const proofs = new TransferProofs()
    const keys: ReceiptKeys = new ReceiptKeys(await secrets.follow('receipts', (found) => keys.use(found)))
    const proofOf: ReceiptsOptions['proofOf'] = async (chainId, transfer) => {
      const chain = chains.get(chainId)
      if (!chain) return null
      const { schema } = chain.state
      return proofs.of({ chainId, schema, reads: chain.postgres.reads }, transfer)
    }
    const app = appDatabase({ pool: program.engines.postgres.reads })
    const origin = statedOrigin(config.access)
    return {
      services: { receipts: new Receipts({ app, keys, origin, proofOf }) },
      close: () => proofs.close(),
    }
  },
})
