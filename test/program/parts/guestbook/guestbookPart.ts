/** The guest book's folder has all of it; a list of parts takes one line. */
import type { ParityPart } from '#program/parts/parity/parityPart.ts'
import { definePart } from '#program/parts/part.ts'
import { type Guestbook, signEndpoint } from './guestbook.ts'

const PAGE = 2

/** @param told what it did, for the test */
export const guestbookPart = (told: string[]) =>
  definePart({
    name: 'guestbook',
    endpoints: [signEndpoint],
    // Codes are the contract's: a service that has an alarm of its own adds one to the schema of /status.
    alarms: [{ code: 'wallet_low', passesMs: 0 }],
    open: ({ log }, { parity }: { readonly parity: ParityPart }) => {
      const guestbook: Guestbook = { guests: [] }
      const { guests } = guestbook
      log.info({ chains: parity.services.parity.size }, 'the guest book is open')
      return {
        services: { guestbook },
        notes: ['guests are welcome'],
        problems: () =>
          guests.length < PAGE ? [] : [{ chainId: 7, code: 'wallet_low', problem: 'the page is full' }],
        gauges: [
          {
            ...{ name: 'guests', help: 'Guests, by their name.', labelNames: ['guest'] },
            collect: (to) => {
              for (const guest of guests) to.set({ guest }, 1)
            },
          },
        ],
        run: async ({ shutdown }) => {
          told.push('runs')
          await new Promise((resolve) => shutdown.addEventListener('abort', resolve))
          told.push('ran')
        },
        close: async () => told.push('closed'),
      }
    },
  })
