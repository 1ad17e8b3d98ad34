/** The comparison of both stores. */
import type { Base, Part } from '../part.ts'
import { openParity, type Parity } from './parity.ts'

export type ParityPart = Part<{ readonly parity: Parity['reads'] }>

export function openParityPart({ program, runtime, log }: Base): ParityPart {
  const { reads, run } = openParity(program.engines, program.chains, runtime, log)
  return { services: { parity: reads }, run: ({ shutdown }) => run(shutdown) }
}
