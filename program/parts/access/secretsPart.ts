/** Secrets of the installation, which another process may exchange. */
import { definePart } from '../part.ts'

export const secretsPart = definePart({
  name: 'secrets',
  open: ({ secrets, runtime, log }) => ({
    services: {},
    run: ({ shutdown }) => secrets.run(runtime.clock, log, shutdown),
  }),
})
