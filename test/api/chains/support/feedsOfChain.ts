/** Activities that the chain of all forks since T5 has for each of its accounts. */
import type { Hex } from 'viem'
import { guard } from '../../support/writtenHolds.ts'
import { nonces, who } from './forkedChain.ts'

const other = ['unknown', 'Unknown', 'outgoing', undefined, undefined, 'self']
const minted = (amount: string, to: Hex) => ['mint', 'Token minted', 'incoming', amount, to, undefined]
const burned = (
  amount: string,
  perspective: string,
  signer: string,
  of: Hex = who.bob,
  title = 'Token burned',
) => [...['burn', title, perspective, amount, of, signer]]
const kept = ['unknown', 'Transfer held', 'incoming', undefined, undefined, 'self']
const sent = (amount: string) => ['transfer', 'Transfer held', 'outgoing', amount, who.issuer, 'self']

/** Viewers, and their feeds from the first activity: type, title, perspective, amount, party, signer. */
export const feeds: readonly (readonly [string, Hex, readonly (readonly unknown[])[]])[] = [
  [
    'its issuer',
    who.issuer,
    [
      ['mint', 'Token minted', 'outgoing', '60', who.issuer, undefined],
      ...[burned('30', 'outgoing', 'self'), burned('0', 'outgoing', 'self')],
      ...[sent('10'), sent('7')],
      ['mint', 'Mint held', 'outgoing', '4', who.erin, undefined],
      ...[sent('6'), burned('7', 'outgoing', 'self', guard, 'Held transfer burned'), other],
    ],
  ],
  [
    'the holder of burned tokens',
    who.bob,
    [
      ...[minted('100000', who.bob), minted('100', who.bob), ...nonces.map(() => other)],
      ...[burned('30', 'incoming', who.issuer), burned('5', 'incoming', who.contract)],
      burned('0', 'incoming', who.issuer),
    ],
  ],
  ['a contract that burned', who.contract, [burned('5', 'incoming', 'self')]],
  [
    'an account that called it',
    who.relayer,
    [minted('100000', who.relayer), burned('5', 'outgoing', 'self'), other],
  ],
  [
    'a receiver',
    who.dave,
    [
      ...[minted('100000', who.dave), kept, kept, kept],
      ['transfer', 'Held transfer claimed', 'outgoing', '10', guard, 'self'],
      burned('7', 'incoming', who.issuer, guard, 'Held transfer burned'),
    ],
  ],
  ['a receiver of a mint', who.erin, [['mint', 'Mint held', 'incoming', '4', who.erin, undefined]]],
  ['a configurable account', who.owned, [minted('100000', who.owned), other]],
  ['an identity', who.identity, [minted('100000', who.identity), other]],
  ['an identity of an unknown scheme', who.stranger, [minted('100000', who.stranger), other]],
]
