/** A made-up service: whoever asks has been a guest. */
import { endpoint } from '#http/endpoint.ts'
import { openToAll } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'

export interface Guestbook {
  readonly guests: string[]
}

export const signEndpoint = endpoint({
  path: '/v1/guestbook/{guest}',
  summary: 'Signs the guest book.',
  chain: 'none',
  access: openToAll,
  params: { guest: p.text(20) },
  response: s.object({ guests: s.count }),
  read: ({ path: { guest } }, { guestbook }: { readonly guestbook: Guestbook }) => {
    guestbook.guests.push(guest)
    return { guests: guestbook.guests.length }
  },
  present: (signed) => signed,
  cache: 'none',
})
