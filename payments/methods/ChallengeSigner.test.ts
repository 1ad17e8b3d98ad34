import { Challenge as Signed } from 'mppx'
import { Mppx, tempo } from 'mppx/server'
import { createClient, custom } from 'viem'
import { tempo as chain } from 'viem/chains'
import { expect, test } from 'vitest'
import { ChallengeSigner, secretKeyOf, signedByLibrary } from './ChallengeSigner.ts'

const key = new Uint8Array(32).fill(7)
const secretKey = secretKeyOf(key)
const currency = '0x20c0000000000000000000000000000000000000'
const recipient: `0x${string}` = `0x${'ab'.repeat(20)}`
const client = createClient({ chain, transport: custom({ request: async () => null }) })
const { charge } = Mppx.create({
  realm: 'shop.example',
  secretKey,
  methods: [tempo.charge({ currency, recipient, getClient: () => client })],
}).challenge.tempo

const terms = (description: string, meta: Readonly<Record<string, string>>) => ({
  ...{ amount: '0.0005', currency, decimals: 6, chainId: chain.id, recipient, description, meta },
  feePayer: false as const,
})

const descriptions = ['A read.', 'Seven "quoted" \\ words', 'Ein Überblick — mit Strich', '']
test.each(descriptions)('the second challenge of an offer is the library’s own, too: %s', async (text) => {
  const signer = new ChallengeSigner([key])
  await signer.sign(terms(text, { salt: 'a', request: 'first' }), charge)
  const made: unknown[] = []
  const asked = terms(text, { salt: 'b', plan: '{"x": [1, "ü"]}', request: 'second' })
  const signed = await signer.sign(asked, async (again) => {
    made.push(again)
    return charge(again)
  })
  const read = Signed.deserialize(signed.text)
  expect(made).toEqual([])
  expect(Signed.verify(read, { secretKey })).toBe(true)
  expect(Signed.serialize(read)).toBe(signed.text)
  const { id, ...other } = await charge({ ...asked, expires: read.expires ?? '' })
  expect(signed).toEqual(signedByLibrary({ id, ...other }))
})

test('another amount is another offer', async () => {
  const signer = new ChallengeSigner([key])
  const meta = { request: 'one' }
  await signer.sign(terms('A read.', meta), charge)
  const { text } = await signer.sign({ ...terms('A read.', meta), amount: '0.5' }, charge)
  expect(Signed.deserialize(text).request).toMatchObject({ amount: '500000' })
})
