/** Foundry's cast: the program itself, for the package's script passes no exit code on. */
import { createRequire } from 'node:module'

const wrapper = '@foundry-rs/cast'
const arch = process.arch === 'x64' ? 'amd64' : process.arch
const near = createRequire(createRequire(import.meta.url).resolve(`${wrapper}/package.json`))

export const castBinary = near.resolve(`${wrapper}-${process.platform}-${arch}/bin/cast`)
