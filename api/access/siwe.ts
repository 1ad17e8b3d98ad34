/**
 * Messages that people sign to sign in (EIP-4361). A message proves itself: its nonce ends with a
 * keyed digest of all else that it says, so that nothing is stored until somebody signs in, and a
 * message of which a character was changed is none of ours. A cookie that binds challenge and
 * sign-in would do so too, but programs without cookies could not keep it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { bodyProblem } from '#http/errors.ts'
import type { Address } from '#primitives.ts'
import { randomBase62 } from '#rows/identifiers.ts'

const MESSAGE_MS = 10 * 60 * 1_000

const STATEMENT = 'Sign in to manage organizations and API keys. This costs nothing and moves nothing.'
/** 143 bits. */
const RANDOM_CHARACTERS = 24
/** 128 bits as hex digits. */
const CHECK_CHARACTERS = 32
const noncePlace = /\nNonce: ([0-9A-Za-z]{24})([0-9a-f]{32})\n/

export interface Challenge {
  /** The site that people sign in to. */
  readonly site: URL
  readonly address: Address
  readonly chainId: number
  readonly resources: readonly string[]
  readonly nowMs: number
}

/** `keys` are those of this installation, the newest first. @throws ApiError body_invalid */
export function writeMessage({ site, nowMs, ...said }: Challenge, [key]: Keys): string {
  const random = randomBase62(RANDOM_CHARACTERS)
  const text = written({ site, nowMs, ...said }, random)
  return text.replace(`\nNonce: ${random}\n`, `\nNonce: ${random}${checkOf(text, key)}\n`)
}

function written({ site, nowMs, address, chainId, resources }: Challenge, nonce: string): string {
  try {
    return createSiweMessage({
      domain: site.host,
      uri: site.origin,
      address,
      chainId,
      nonce,
      version: '1',
      statement: STATEMENT,
      issuedAt: new Date(nowMs),
      expirationTime: new Date(nowMs + MESSAGE_MS),
      resources: [...resources],
    })
  } catch (cause) {
    throw bodyProblem('resources', 'expected URIs', cause)
  }
}

export interface Message {
  readonly address: string
  readonly chainId: number
  readonly nonce: string
}

/** The contents of a message of ours. @throws ApiError body_invalid */
export function readMessage(text: string, site: URL, nowMs: number, keys: Keys): Message {
  const [, random = '', check = ''] = noncePlace.exec(text) ?? []
  const plain = text.replace(`\nNonce: ${random}${check}\n`, `\nNonce: ${random}\n`)
  if (!keys.some((key) => isSame(checkOf(plain, key), check)))
    throw bodyProblem('message', 'it is not the text that was given out')
  const { domain, address = '', chainId = 0, expirationTime } = parseSiweMessage(text)
  if (domain !== site.host) throw bodyProblem('message', 'it is for another site')
  if (!expirationTime || expirationTime.getTime() <= nowMs) throw bodyProblem('message', 'it has expired')
  return { address: address.toLowerCase(), chainId, nonce: random }
}

type Keys = readonly [Uint8Array, ...Uint8Array[]]

const checkOf = (text: string, key: Uint8Array): string =>
  createHmac('sha256', key).update(text).digest('hex').slice(0, CHECK_CHARACTERS)

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
