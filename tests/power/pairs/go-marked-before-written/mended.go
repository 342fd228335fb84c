// Copies orders; the client commits each second what was marked.
package main

import (
	"context"
	"log"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	ctx := context.Background()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Args[1], ",")...),
		kgo.ConsumerGroup("copy"),
		kgo.ConsumeTopics(os.Args[2]),
		kgo.DefaultProduceTopic(os.Args[3]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.SessionTimeout(8*time.Second),
		kgo.AutoCommitMarks(),
		kgo.AutoCommitInterval(time.Second),
	)
	if err != nil {
		log.Fatal(err)
	}
	for {
		fetches := client.PollRecords(ctx, 200)
		fetches.EachError(func(topic string, partition int32, err error) {
			log.Printf("%s-%d: %v", topic, partition, err)
		})
		var copies []*kgo.Record
		fetches.EachRecord(func(record *kgo.Record) {
			if record.Value != nil {
				copies = append(copies, &kgo.Record{Key: record.Key, Value: record.Value})
			}
		})
		if err := client.ProduceSync(ctx, copies...).FirstErr(); err != nil {
			log.Fatal(err)
		}
		client.MarkCommitRecords(fetches.Records()...)
	}
}
