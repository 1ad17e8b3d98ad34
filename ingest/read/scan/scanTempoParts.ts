/**
 * Parts of Tempo's transactions, as texts: calls, which are checked, and signatures, which take any
 * shape.
 */
import type { Address } from '#primitives.ts'
import type { RpcTxCall } from '../block.ts'
import { ascii, declined } from '../json/JsonCursor.ts'
import type { JsonTexts } from '../json/JsonTexts.ts'
import { ObjectKeys, withKey } from '../json/ObjectKeys.ts'
import { DIGITS256 } from '../shape.ts'
import { ADDRESS_BYTES } from './scannedReceipt.ts'

export function scanCalls(texts: JsonTexts): readonly RpcTxCall[] {
  const { cursor } = texts
  const calls: RpcTxCall[] = []
  cursor.expect(ascii.openList)
  if (cursor.peek() === ascii.closeList) cursor.at++
  else
    do calls.push(scanCall(texts))
    while (cursor.hasNext(ascii.closeList))
  return calls
}

const callKeys = new ObjectKeys(['to', 'value', 'input', 'data'])

function scanCall(texts: JsonTexts): RpcTxCall {
  const { cursor } = texts
  const call: { -readonly [Key in keyof RpcTxCall]: RpcTxCall[Key] } = {
    to: null,
    value: null,
    input: null,
    data: null,
  }
  let seen = 0
  let key = callKeys.none
  cursor.expect(ascii.openObject)
  do {
    key = callKeys.read(cursor, key)
    if (key === callKeys.unknown) throw declined
    seen = withKey(seen, key)
    if (key === 0) call.to = texts.readBytesOrNull(ADDRESS_BYTES) as Address | null
    else if (key === 1) call.value = texts.readQuantityOrNull(DIGITS256)
    else if (key === 2) call.input = texts.readHexOrNull()
    else call.data = texts.readHexOrNull()
  } while (cursor.hasNext(ascii.closeObject))
  return call
}

const signatureWords = ['r', 's', 'yParity', 'v', 'pubKeyX', 'pubKeyY', 'webauthnData'] as const
const signatureKeys = new ObjectKeys([...signatureWords, 'type', 'preHash'])
const typeKey = signatureWords.length

type SignatureTexts = { [Word in (typeof signatureWords)[number] | 'type']: string | null }

/** A signature without another one in it. Null, with nothing passed, for any other object. */
export function scanSignature(texts: JsonTexts): object | null {
  const { cursor } = texts
  const start = cursor.at
  const signature = emptySignature()
  let seen = 0
  let key = signatureKeys.none
  cursor.expect(ascii.openObject)
  do {
    key = signatureKeys.read(cursor, key)
    if (key === signatureKeys.unknown) {
      cursor.at = start
      return null
    }
    seen = withKey(seen, key)
    const word = signatureWords[key]
    if (word !== undefined) signature[word] = texts.readDigits()
    else if (key === typeKey) signature.type = cursor.readText()
    else signature.preHash = cursor.readBoolean()
  } while (cursor.hasNext(ascii.closeObject))
  return signature
}

/** With all fields there may be, so that all signatures have one shape. */
function emptySignature(): SignatureTexts & { preHash: boolean | null } {
  return {
    type: null,
    preHash: null,
    r: null,
    s: null,
    yParity: null,
    v: null,
    pubKeyX: null,
    pubKeyY: null,
    webauthnData: null,
  }
}
