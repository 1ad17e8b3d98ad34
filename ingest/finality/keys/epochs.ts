export const epochOf = (height: number, epochBlocks: number): number => Math.floor(height / epochBlocks)
