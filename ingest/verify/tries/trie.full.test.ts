// trie.test.ts in its whole breadth.
import './trie.test.ts'
