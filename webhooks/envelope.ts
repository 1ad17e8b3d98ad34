/** The envelope: what is signed and sent. Its bytes are made once, at the first attempt. */
import type { Claimed } from '#rows/webhooks/claims.ts'

/** Bytes of `data`; longer data is left out, and the envelope says so. */
export const DATA_BYTES_MAX = 256 * 1024

/** The members of `meta`, all of them signed. */
interface Meta {
  blockHash?: string
  index?: number
  finalized?: boolean
  sequence?: number
  replay?: string
  /** Bytes of the data that was too long to be sent. */
  cutBytes?: number
}

/** The parts of an envelope. */
export type Enveloped = Pick<
  Claimed,
  | 'eventId'
  | 'type'
  | 'chainId'
  | 'webhookId'
  | 'createdAt'
  | 'context'
  | 'data'
  | 'block'
  | 'index'
  | 'sequence'
  | 'replay'
>

export function writeEnvelope(event: Enveloped): string {
  const { eventId, type, chainId, webhookId, createdAt, context, data } = event
  const text = data ?? '{}'
  const bytes = Buffer.byteLength(text)
  const isCut = bytes > DATA_BYTES_MAX
  const head = {
    id: eventId,
    type,
    chainId,
    subscriptionId: webhookId,
    createdAt: createdAt.toISOString(),
    ...(context && { context }),
  }
  const meta = { ...metaOf(event), ...(isCut && { cutBytes: bytes }) }
  // The data is JSON already: it is put in as it is.
  return `${JSON.stringify(head).slice(0, -1)},"data":${isCut ? '{}' : text},"meta":${JSON.stringify(meta)}}`
}

function metaOf({ block, index, sequence, replay }: Enveloped): Meta {
  return {
    ...(block && { blockHash: block.hash, index, finalized: block.isFinal }),
    ...(sequence !== null && { sequence }),
    ...(replay !== null && { replay }),
  }
}
