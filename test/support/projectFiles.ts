/** The project's own files as text, for the suites that read its layout and its comments. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** Paths below the root in the order of their names, without packages of others. */
export const glob = (pattern: string) => globSync(pattern, { cwd: root, exclude: ['node_modules/**'] }).sort()

export const read = (file: string) => readFileSync(join(root, file), 'utf8')

export const isTest = (file: string) => file.includes('.test.')

/** The product's sources. */
export const sources = glob('**/*.ts').filter((file) => !isTest(file) && !/^(test|bench)\//.test(file))

export const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')

/** All rooms but the one that sees everything. */
export const stageFiles = sources.filter((file) => file.includes('/') && !file.startsWith('program/'))

/** Folders that start and watch processes of other programs. */
export const startsProcesses = /^local\//
