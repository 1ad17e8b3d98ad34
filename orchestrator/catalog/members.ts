/** Reads documents of strangers: what is not of the form asked for is as if it were absent. */
import { isRecord } from '#primitives.ts'

export type Json = Readonly<Record<string, unknown>>

/** The members of a value that is an object, else none. */
export const membersOf = (value: unknown): Json => (isRecord(value) ? value : {})
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
