/** Whether what came is what the OpenAPI document says of its type. */
import { Compile } from 'typebox/compile'
import { expect } from 'vitest'
import { envelopes } from '#api/routes/webhooks/envelopes.ts'
import type { Received } from '../../support/receiver.ts'

const validators = new Map(
  Object.entries(envelopes).map(([type, { schema }]) => [type, Compile(schema)] as const),
)

export function expectConforming(received: readonly Received[]): void {
  for (const { envelope } of received) {
    const validator = validators.get(envelope.type)
    expect(validator?.Check(envelope) ? [] : [envelope, validator?.Errors(envelope)]).toEqual([])
  }
}
