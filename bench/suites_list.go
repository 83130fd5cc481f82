package bench

// AllSuites is every suite, in the order in which a run does them.
var AllSuites = []Suite{pcieSuite, diskSuite, preprocessSuite, pipelineSuite}
