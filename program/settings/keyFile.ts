/**
 * Private keys of ours: each in a file that only its owner may read. One that others can guess is
 * refused. Nothing said of a file repeats what is in it.
 */
import { readFileSync, statSync } from 'node:fs'
import { privateKeyToAddress } from 'viem/accounts'
import { errnoOf, SettingError } from '#errors.ts'

/** 32 bytes in hexadecimal, with or without 0x. */
const keyText = /^(?:0x)?([0-9a-fA-F]{64})$/
/** Such a number was counted up by somebody, and not drawn. */
const GUESSED_BELOW = 1n << 192n
/** Accounts of the words `test test test … junk`, which development nodes hand out. */
const defaultAddresses: ReadonlySet<string> = new Set([
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
  '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
  '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
])

/** @param place of the path in its setting. @throws SettingError */
export function readKeyFile(setting: string, place: string, path: string): `0x${string}` {
  const refused = (problem: string, cause?: unknown) =>
    new SettingError(setting, `${place}: ${path} ${problem}`, { cause })
  const text = readOwnFile(path, refused)
  const [, digits] = keyText.exec(text) ?? []
  if (digits === undefined) throw refused('is no private key: 64 hexadecimal digits')
  const key: `0x${string}` = `0x${digits.toLowerCase()}`
  if (BigInt(key) < GUESSED_BELOW) throw refused('has a key that others can guess')
  const address = addressOf(key)
  if (address === null) throw refused('has a number that is no private key')
  if (defaultAddresses.has(address)) throw refused('has a key of development nodes, which everybody knows')
  return key
}

function readOwnFile(path: string, refused: (problem: string, cause?: unknown) => SettingError): string {
  try {
    if ((statSync(path).mode & 0o077) !== 0) throw refused('can be read by others: make its mode 600')
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (error instanceof SettingError) throw error
    throw refused(`cannot be read (${errnoOf(error) ?? 'no file'})`, error)
  }
}

/** Null beyond the order of the curve. */
function addressOf(key: `0x${string}`): string | null {
  try {
    return privateKeyToAddress(key)
  } catch {
    return null
  }
}
