/** The comparison of both stores. */
import { type Base, definePart, type Part } from '../part.ts'
import { openParity, type Parity, parityAlarms } from './parity.ts'

export type ParityPart = Part<{ readonly parity: Parity['reads'] }>

export const parityPart = definePart({
  name: 'parity',
  alarms: [{ code: 'parity_differs', passesMs: 0 }],
  open: openParityPart,
})

function openParityPart({ program, runtime, log }: Base): ParityPart {
  const { reads, run } = openParity(program.engines, program.chains, runtime, log)
  return {
    services: { parity: reads },
    problems: () => [...reads].flatMap(([chainId, { status }]) => parityAlarms(chainId, status)),
    run: ({ shutdown }) => run(shutdown),
  }
}
