/**
 * Child process: follows a network with certificates until a block is final, or until its failpoint
 * kills it.
 */
import { systemRuntime } from '#runtime/runtime.ts'
import { type CertifiedChainOptions, openCertifiedChain } from './openCertifiedChain.ts'

/** The parent's task, as one JSON argument. */
export interface CertifiedTask extends Omit<CertifiedChainOptions, 'runtime'> {
  /** `name:nth`, where the process kills itself. */
  readonly failpoint: string
  /** It ends when this block is final. */
  readonly until: number
}

const { failpoint, until, ...options }: CertifiedTask = JSON.parse(process.argv[2] ?? '')
const runtime = systemRuntime(failpoint)
const { chain, close } = await openCertifiedChain({ ...options, runtime })
await chain.start()
const never = new AbortController().signal
while (chain.state.finalized < until) await chain.state.bell.wait(runtime.clock, 100, never)
await close()
process.exit(0)
