/** Signatures as users write them, each of which becomes a table of their query. */
import { parseSignature, type Signature, SignatureError } from '#transform/abi/signature.ts'
import { UserQueryError } from '../UserQueryError.ts'

/** Each becomes a table of the catalog. */
export const SIGNATURES_MAX = 16

/** @throws UserQueryError `signature_invalid` */
export function readQuerySignature(text: string): Signature {
  try {
    return parseSignature(text)
  } catch (error) {
    throw error instanceof SignatureError ? asked(error) : error
  }
}

export const invalidSignature = (text: string, problem: string, hint?: string): UserQueryError =>
  asked(new SignatureError(text, problem, hint))

const asked = ({ message, hint }: SignatureError): UserQueryError =>
  new UserQueryError('signature_invalid', message, { hint })
