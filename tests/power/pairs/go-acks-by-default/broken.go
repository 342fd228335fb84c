// Copies orders; offsets are committed when the copies are written.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	ctx := context.Background()
	brokers := strings.Split(os.Args[1], ",")
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers:               brokers,
		GroupID:               "copy",
		Topic:                 os.Args[2],
		StartOffset:           kafka.FirstOffset,
		IsolationLevel:        kafka.ReadCommitted,
		SessionTimeout:        8 * time.Second,
		WatchPartitionChanges: true,
	})
	writer := &kafka.Writer{
		Addr:         kafka.TCP(brokers...),
		Topic:        os.Args[3],
		BatchTimeout: 10 * time.Millisecond,
	}
	for {
		var read []kafka.Message
		var copies []kafka.Message
		until, enough := context.WithTimeout(ctx, 500*time.Millisecond)
		for len(read) < 200 {
			message, err := reader.FetchMessage(until)
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			if err != nil {
				log.Fatal(err)
			}
			read = append(read, message)
			if message.Value != nil {
				copies = append(copies, kafka.Message{Key: message.Key, Value: message.Value})
			}
		}
		enough()
		if err := writer.WriteMessages(ctx, copies...); err != nil {
			log.Fatal(err)
		}
		if err := reader.CommitMessages(ctx, read...); err != nil {
			log.Fatal(err)
		}
	}
}
